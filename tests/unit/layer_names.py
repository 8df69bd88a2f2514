"""Where a repository names a message layer outside of what is its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.unit.nic_names import OF_ALL, TOPS, docstrings, naming, said

OWN = (
    r"firmware/(?:nic|host)/{0}/",  # the layer itself
    r"pymodels/(?:formats/{0}(?:/|\.py$)|{0}_\w+\.py$)",  # its packets, models of it
    r"(?:pymodels|tb)/nics/{0}(?:/|\.py$)",  # the NIC that it drives, where it has the name of one
    r"tb/fuzz/layers/{0}(?:/|\.py$)",  # random programs of it
    r"tb/program/{0}/",  # programs that call it
    r"tb/explore/(?:worlds/)?{0}(?:/|\.py$)",  # small worlds of it
    r"tb/sanlab/new\.py$",  # names the template of new layers
)


def own(place: str, layer: str) -> bool:
    """Whether a file, by its place in the repository, belongs to a layer."""
    return any(re.match(pattern.format(layer), place) for pattern in OWN)


STANDS_ON = re.compile(r"^STANDS_ON = \(([^)]*)\)", re.MULTILINE)


def below(root: Path, place: str) -> frozenset[str]:
    """The layers that a file may name since its own layer or application stands on them."""
    folder = re.match(r"(?:firmware/(?:host|applications)|tb/fuzz/layers)/\w+/", place)
    package = root / folder[0] / "__init__.py" if folder else root
    stands = STANDS_ON.search(package.read_text(encoding="utf-8")) if package.is_file() else None
    return frozenset(re.findall(r'"(\w+)"', stands[1])) if stands else frozenset()


def in_python(lines: Iterable[tuple[int, str]], layer: str) -> Iterator[int]:
    """Of what is imported and written, the lines that name a layer: as a string that is its name, or as a part of a
    module or a path.
    """
    part = re.compile(rf"(?:^|[./])(?:nic|host|formats|layers|worlds|explore)[./]{layer}(?=$|[./])")
    return naming(lines, layer, part)


def offences(root: Path, layers: Sequence[str]) -> list[str]:
    """Everything that names a layer and is not its own, as `file:line: names layer`."""
    found = []
    for path in sorted(path for top in TOPS for path in (root / top).rglob("*.py")):
        place, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if place.startswith(OF_ALL) or not any(layer in text for layer in layers):
            continue
        tree = ast.parse(text)
        read, lines = docstrings(tree), list(said(tree))
        allowed = below(root, place)
        for layer in layers:
            if layer in text and layer not in allowed and not own(place, layer):
                found += [f"{place}:{line}: names {layer}" for line in sorted({*in_python(lines, layer)} - read)]
    return found
