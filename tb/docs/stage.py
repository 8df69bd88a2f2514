"""The sources of the site: every page of the checkout, and the generated reference, in one folder for Sphinx."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tb.docs.reference import api, commands, enums, errors, files, hdl, options
from tb.tools.paths import ROOT

FOLDERS = ("hdl", "pymodels", "firmware", "tb", "tests")
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
SITE = "tb/docs"
"""Folder of the pages that belong to the site alone."""
GENERATED: dict[str, Callable[[], Iterable[str]]] = {
    "commands": commands.page,
    "settings": options.page,
    "errors": errors.page,
    "files": files.page,
    "trace_events": enums.trace_events,
    "registers": enums.registers,
    "hdl": hdl.page,
}
"""Pages of the reference by name, each from one definition in the sources."""
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
REFERENCE = "reference"


def pages() -> list[Path]:
    """Return every Markdown page of the checkout."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))
    return sorted([*found, *(path for name in TOP if (path := ROOT / name).exists())])


def stage(folder: Path) -> None:
    """Write the sources of the site into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in pages():
        _copy(path, folder)
        for named in _linked(path):
            _copy(named, folder)
    for path in sorted((ROOT / SITE / "pictures").glob("*.*")):
        _copy(path, folder)
    reference = folder / REFERENCE
    reference.mkdir()
    for name, lines in GENERATED.items():
        (reference / f"{name}.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")
    found = api.pages()
    for name, text in found.items():
        (reference / f"api_{name}.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    (reference / "api.md").write_text("\n".join(_contents(found)) + "\n", encoding="utf-8")
    (folder / "code.md").write_text("\n".join(_beside(pages())) + "\n", encoding="utf-8")


def _copy(path: Path, folder: Path) -> None:
    target = folder / path.relative_to(ROOT)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _linked(page: Path) -> Iterator[Path]:
    """Yield the files of the checkout, other than pages, that a page links."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        if "://" not in target and path.is_file() and path.suffix != ".md" and path.is_relative_to(ROOT):
            yield path


def _contents(names: Iterable[str]) -> Iterator[str]:
    yield from ("# API", "", "Public classes and functions, from their docstrings.", "")
    yield from _toctree(f"api_{name}" for name in names)


def _beside(found: Iterable[Path]) -> Iterator[str]:
    """Yield the page that lists the pages beside the code, by folder."""
    yield from ("# Pages beside the code", "", "Each part of sanlab is described in its own folder.", "")
    for folder in FOLDERS:
        members = [path.relative_to(ROOT) for path in found if path.is_relative_to(ROOT / folder)]
        yield from (f"## {folder}", "")
        yield from _toctree(f"/{path.with_suffix('').as_posix()}" for path in members if SITE not in path.as_posix())


def _toctree(names: Iterable[str]) -> Iterator[str]:
    yield from ("```{toctree}", ":maxdepth: 1", "", *names, "```", "")
