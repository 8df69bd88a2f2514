"""Documentation site.

Strategy: the site is built once, as by `make docs`, with every warning an error. Then its files are read: the parts
exist, the search index is local, and no page loads anything from a network. A missing package and a broken reference
end with an error that names the remedy.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tb.docs import build
from tb.docs.stage import GENERATED, pages
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

LOADED = re.compile(r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="((?:https?:)?//[^"]+)"')


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site."""
    out = tmp_path_factory.mktemp("docs")
    build.build(out)
    return out / "html"


def test_site_has_every_page(site: Path) -> None:
    assert "url=tb/docs/index.html" in (site / "index.html").read_text(encoding="utf-8")
    wanted = [site / path.relative_to(ROOT).with_suffix(".html") for path in pages()]
    wanted += [site / "reference" / f"{name}.html" for name in GENERATED]
    assert [path for path in wanted if not path.is_file()] == []


def test_site_works_offline_and_can_be_searched(site: Path) -> None:
    loaded = [found for page in site.rglob("*.html") for found in LOADED.findall(page.read_text(encoding="utf-8"))]
    assert loaded == []
    assert "grim_pingpong" in (site / "searchindex.js").read_text(encoding="utf-8")


def test_a_missing_package_is_reported_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "NEEDED", {"no_such_module": "no-such-package"})
    with pytest.raises(ToolError, match="no-such-package: not installed; type `make setup`"):
        build.check_installed()


def test_warning_of_sphinx_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stage_broken(folder: Path) -> None:
        (folder / "tb" / "docs").mkdir(parents=True)
        (folder / "tb" / "docs" / "index.md").write_text("# Title\n\n{doc}`/nowhere`\n", encoding="utf-8")

    monkeypatch.setattr("tb.docs.stage.stage", stage_broken)
    with pytest.raises(ToolError, match="unknown document: '/nowhere'"):
        build.build(tmp_path)


def test_command_prints_its_usage() -> None:
    command = [sys.executable, "-m", "tb.sanlab", "docs", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("usage: sanlab docs")
