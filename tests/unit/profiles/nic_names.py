"""Search for names of a kind of NIC outside of its own files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

TOPS = ("pymodels", "firmware", "tb")
OF_ALL = ("pymodels/profiles/", "pymodels/clusters/", "tb/studies/")
"""Folders that may name kinds and layers, since users choose profiles and clusters, and studies require some."""
BOARDS = "hdl/board/"
"""Folder of the tops of FPGA boards, which instantiate the NIC that they hold."""
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")


def own(place: str, kind: str) -> bool:
    """Return True if a file belongs to a kind.

    Files of a kind are those in its folders, or in the layer of its name that drives a kind without a processor.
    """
    return re.match(rf"(?:(?:{'|'.join(TOPS)})/nics|hdl/nic|firmware)/{kind}(?:/|\.py$)", place) is not None


def driving(root: Path, kind: str) -> tuple[str, ...]:
    """Return the folders of layers that drive a kind: `drives` of their descriptor is the imported `KIND`."""
    says = f"from pymodels.nics.{kind}.kind import KIND\n"
    found = sorted((root / "firmware").glob("*/layer.py"))
    return tuple(f"firmware/{one.parent.name}/" for one in found if says in one.read_text(encoding="utf-8"))


def in_python(tree: ast.AST, kind: str) -> Iterator[int]:
    """Lines that name a kind: as a string that is its name, or as a part of a module or a path."""
    return naming(said(tree), kind, re.compile(rf"(?:^|[./])nics?[./]{kind}(?=$|[./])"))


def naming(lines: Iterable[tuple[int, str]], name: str, part: re.Pattern[str]) -> Iterator[int]:
    """Lines with a string that is the name, or with a module or a string in which the pattern is found."""
    yield from (line for line, text in lines if text == name or part.search(text))


def said(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield every imported module and every one-line string, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            texts = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            texts = [f"{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            texts = [node.value]
        else:
            continue
        yield from ((node.lineno, text) for text in texts)


def docstrings(tree: ast.AST) -> set[int]:
    """Lines of strings that are only there to be read."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {node.lineno for node in alone if isinstance(node, ast.Constant)}


def of_python(root: Path, kinds: Sequence[str]) -> Iterator[str]:
    """Offences of Python files, as `file:line: names kind`."""
    drivers = {kind: driving(root, kind) for kind in kinds}
    perhaps = re.compile(rf"(?:[\"'./]|\bimport\b.*\b)(?:{'|'.join(kinds)})\b")
    for path in sorted(path for top in TOPS for path in (root / top).rglob("*.py")):
        place, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if place.startswith(OF_ALL) or not perhaps.search(text):
            continue
        tree = ast.parse(text)
        read = docstrings(tree)
        for kind in kinds:
            if not own(place, kind) and not place.startswith(drivers[kind]):
                yield from (f"{place}:{line}: names {kind}" for line in in_python(tree, kind) if line not in read)


def of_hdl(root: Path, kinds: Sequence[str]) -> Iterator[str]:
    """Offences of HDL files: they name a module of a kind, as `file: names module of kind`."""
    files = {path: path.relative_to(root).as_posix() for path in sorted((root / "hdl").rglob("*.sv"))}
    modules = {path.stem: kind for path, place in files.items() for kind in kinds if own(place, kind)}
    for path, place in files.items():
        if place.startswith(BOARDS):
            continue
        text = path.read_text(encoding="utf-8")
        if modules.keys() & set(WORD.findall(text)):
            named = sorted(modules.keys() & set(WORD.findall(COMMENT.sub("", text))))
            yield from (f"{place}: names {one} of {modules[one]}" for one in named if not own(place, modules[one]))


def offences(root: Path, kinds: Sequence[str]) -> list[str]:
    """Everything that names a kind and is not its own."""
    return [*of_python(root, kinds), *of_hdl(root, kinds)]
