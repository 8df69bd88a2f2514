"""Version of a release: equal in every place that names it.

Strategy: the version of the package is compared with the citation file and the changelog.
"""

from __future__ import annotations

import re

from tb.sanlab.backend import ROOT, project


def test_citation_names_the_version_of_the_package() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", text, re.MULTILINE) == [project()["version"]]


def test_changelog_has_a_section_of_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert any(project()["version"] in heading for heading in headings)


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 160
