"""Graph of the repository's imports: read from the source, with imports in functions and under TYPE_CHECKING."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tb.tools.imports import imported

Graph = Mapping[str, Mapping[str, int]]
"""Imports by file: each imported file with the first line that imports it; files are named as modules."""


@dataclass(frozen=True)
class Sources:
    """Modules below the top folders of a repository."""

    root: Path
    files: Mapping[str, Path]
    imports: Mapping[str, tuple[tuple[int, str], ...]]
    """Imports by module: line and name, of a module here or of another package."""

    @staticmethod
    def below(root: Path, tops: list[str]) -> Sources:
        """Read all of them."""
        paths = sorted(path for top in tops for path in (root / top).rglob("*.py"))
        files = {_name(path.relative_to(root)): path for path in paths}
        return Sources(root, files, {name: tuple(_imported(files, name, path)) for name, path in files.items()})

    def place(self, module: str) -> Path:
        """Return the file of a module, relative to the root."""
        return self.files[module].relative_to(self.root)

    @cached_property
    def graph(self) -> dict[str, dict[str, int]]:
        """The imports among the modules here."""
        found: dict[str, dict[str, int]] = {name: {} for name in self.files}
        for name, imports in self.imports.items():
            for line, module in imports:
                if module in self.files and module != name:
                    found[name].setdefault(module, line)
        return found


def _name(place: Path) -> str:
    parts = place.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(files: Mapping[str, Path], name: str, path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file imports; `from package import module` names the module."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for line, module, taken in imported(path.read_text(encoding="utf-8"), package):
        whole = f"{module}.{taken}"
        yield line, whole if whole in files else module


@dataclass(frozen=True)
class Order:
    """The folders from the bottom to the top."""

    tops: list[str]
    lines: Mapping[str, list[list[str]]]
    """Names of the folders by top folder; each set holds the folders of one line."""

    @staticmethod
    def of(table: Mapping[str, Any]) -> Order:
        """Read the order of `import_order.toml`."""
        tops = list(table["tops"])
        return Order(tops, {top: [line.split() for line in table[top]] for top in tops if top in table})

    def place(self, file: Path) -> tuple[int, int, str] | None:
        """Return top, line, and folder or file. None: its top has an order, and no line of it names the place."""
        top, *rest = file.parts[:-1]
        if top not in self.lines:
            return self.tops.index(top), 0, top
        folders = ["/".join(rest[:depth]) for depth in range(len(rest), 0, -1)]
        for name in ["/".join([*rest, file.name]), *folders, "."]:
            for pattern in (name, *_patterns(name)):
                for number, line in enumerate(self.lines[top]):
                    for entry in line:
                        if pattern in (entry, *_both(entry)):
                            folder = name if entry == pattern else name.partition("/")[0]
                            return self.tops.index(top), number, f"{top}/{folder}"
        return None

    def offences(self, sources: Sources) -> list[str]:
        """List each import that does not go down, and each file without a place, as `file:line: fault`."""
        found = []
        for name, others in sources.graph.items():
            here = self.place(sources.place(name))
            if here is None:
                if sources.files[name].stat().st_size:
                    found.append(f"{sources.place(name)}:1: stands in no folder of the order")
                continue
            for module, line in others.items():
                there = self.place(sources.place(module))
                if there is not None and there[2] != here[2] and there[:2] >= here[:2]:
                    found.append(f"{sources.place(name)}:{line}: {here[2]} imports {module}")
        return found


def _patterns(name: str) -> list[str]:
    """Return the patterns that a folder or a file matches: one of its parts may be any."""
    parts = name.split("/")
    patterns = ["/".join([*parts[:at], "*", *parts[at + 1 :]]) for at in reversed(range(len(parts)))]
    return [pattern for pattern in patterns if pattern.endswith(".py") == name.endswith(".py")]


def _both(written: str) -> tuple[str, ...]:
    """Return the two folders that an entry such as `hal/+nic` makes one place: `hal` and `hal/nic`."""
    folder, plus, below = written.partition("/+")
    return (folder, f"{folder}/{below}") if plus else ()


@dataclass(frozen=True)
class FileOrder:
    """The files of one folder from the bottom to the top."""

    folder: str
    lines: list[list[str]]
    """Files of one line do not know each other."""

    @staticmethod
    def of(table: Mapping[str, Any]) -> list[FileOrder]:
        """Read the orders of files of `import_order.toml`."""
        return [FileOrder(folder, [line.split() for line in lines]) for folder, lines in table["files"].items()]

    def offences(self, sources: Sources) -> list[str]:
        """List each import that does not go down, each file without a line, and each name without a file."""
        lines = {name: number for number, line in enumerate(self.lines) for name in line}
        paths = {name: sources.place(name) for name in sources.files}
        files = {name: path for name, path in paths.items() if str(path.parent) == self.folder}
        stems = {path.stem for path in files.values()}
        found = [f"{self.folder}/{name}.py:1: is named in the order, and is not there" for name in lines.keys() - stems]
        for name, path in files.items():
            if path.stem not in lines:
                found.append(f"{path}:1: stands in no line of the order of its folder")
                continue
            for module, line in sources.graph[name].items():
                if module in files and lines.get(files[module].stem, -1) >= lines[path.stem]:
                    found.append(f"{path}:{line}: {path.stem} imports {files[module].stem}")
        return found


def circles(graph: Graph) -> list[list[str]]:
    """Files that import each other in a circle: each set of them once, by Tarjan's algorithm."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        path.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in path:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            together = path[path.index(name) :]
            del path[path.index(name) :]
            if len(together) > 1:
                found.append(sorted(together))

    for name in graph:
        if name not in number:
            visit(name)
    return sorted(found)


def way(sources: Sources, start: str, packages: tuple[str, ...]) -> list[str]:
    """Return a shortest chain of imports from a module to one of these external packages; empty when there is none.

    An import of `a.b.c` also executes `a` and `a.b`.
    """
    graph, before, queue = sources.graph, {start: ""}, [start]
    for name in queue:
        for _, module in sources.imports[name]:
            if module.split(".")[0] in packages:
                return [*_back(before, name), module]
        parts = name.split(".")
        packages_above = (".".join(parts[:depth]) for depth in range(1, len(parts)))
        for other in [*graph[name], *(package for package in packages_above if package in graph)]:
            if other not in before:
                before[other] = name
                queue.append(other)
    return []


def _back(before: Mapping[str, str], name: str) -> list[str]:
    """Return the modules that led to one, and the module itself."""
    return [*_back(before, before[name]), name] if name else []
