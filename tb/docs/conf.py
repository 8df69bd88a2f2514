"""Configuration of Sphinx. `sanlab docs` calls it; sources are staged in one folder first (`tb/docs/stage.py`)."""

from __future__ import annotations

from typing import Any

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

from tb.sanlab.backend import project as metadata

project = "sanlab"
copyright = "the authors of sanlab"  # noqa: A001 - the name that Sphinx reads
version = release = str(metadata()["version"])
extensions = ["myst_parser"]
root_doc = "tb/docs/index"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
suppress_warnings = [
    "myst.header",  # pages of one table or picture may begin at the second level
    "misc.highlighting_failure",  # blocks show output and shortened code
    "toc.not_included",  # README.md and pages of single compositions are reached by links
]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"sanlab {version}"
html_copy_source = False
html_show_sphinx = False
python_maximum_signature_line_length = 100
add_module_names = False


def link_exact_names_only(_app: Sphinx, tree: Any) -> None:
    """Let a name in an annotation link to its own module only: `bytes` is no attribute of another class."""
    for node in tree.findall(pending_xref):
        if node.get("refdomain") == "py" and not node.get("refspecific"):
            node.attributes.pop("refspecific", None)


def setup(app: Sphinx) -> dict[str, Any]:
    """Install the handlers of the site."""
    app.connect("doctree-read", link_exact_names_only)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
