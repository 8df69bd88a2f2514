"""Version of a release: taken from tags, and equal in every place that names it.

Strategy: the version of pyproject.toml is compared with the citation file, the changelog and the tag of a release. The
version of sources is computed in a new repository, without and with tags, and in an unpacked source distribution.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tb.plan.provenance import own_version
from tb.sanlab.backend import ROOT, project, release, version


@pytest.fixture(name="checkout")
def fixture_checkout(tmp_path: Path) -> Path:
    """Return a repository with one commit that has pyproject.toml."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> str:
    """Return the output of a git command."""
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(
        ["git", *author, *words], cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def commit(folder: Path) -> None:
    """Commit all files."""
    git(folder, "add", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change")


def test_version_of_a_checkout_without_tags_is_that_of_pyproject(checkout: Path) -> None:
    assert version(checkout) == release()


def test_version_of_a_tagged_commit_is_the_tag(checkout: Path) -> None:
    git(checkout, "tag", "v7.8.9")
    assert version(checkout) == "7.8.9"


def test_version_after_a_tag_counts_the_commits_and_names_the_last(checkout: Path) -> None:
    git(checkout, "tag", "-a", "-m", "release", "v7.8.9")
    for _ in range(2):
        commit(checkout)
    last = git(checkout, "rev-parse", "--short", "HEAD").strip()
    assert version(checkout) == f"7.8.9.post2+g{last}"


def test_tags_that_name_no_version_are_ignored(checkout: Path) -> None:
    git(checkout, "tag", "vacation")
    assert version(checkout) == release()


def test_version_of_an_unpacked_source_distribution_is_that_of_pkg_info(checkout: Path) -> None:
    text = "Metadata-Version: 2.1\nName: sanlab\nVersion: 4.5.6\n\nVersion: 1\n"
    (checkout / "PKG-INFO").write_text(text, encoding="utf-8")
    git(checkout, "tag", "v7.8.9")
    assert version(checkout) == "4.5.6"


def test_version_without_git_is_that_of_pyproject(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(checkout, "tag", "v7.8.9")
    monkeypatch.setenv("PATH", str(checkout))
    assert version(checkout) == release()


def test_a_tagged_commit_of_this_checkout_has_the_version_of_pyproject() -> None:
    assert re.match(rf"{re.escape(release())}($|\.post)", project()["version"])


def test_results_name_the_version_of_pyproject() -> None:
    assert own_version() == release()


def test_citation_names_the_version_of_pyproject() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", text, re.MULTILINE) == [release()]


def test_changelog_has_a_section_of_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert any(release() in heading for heading in headings)


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 160
