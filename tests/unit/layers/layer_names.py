"""Search for files outside of a message layer that name it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.unit.profiles.nic_names import OF_ALL, TOPS, docstrings, naming, said

OWN = (
    r"firmware/{0}/",  # the layer itself
    r"(?:pymodels|tb)/nics/{0}(?:/|\.py$)",  # the NIC that it drives, where it has the name of one
    r"tb/program/{0}/",  # programs that call it
    r"tb/studies/{0}/",  # its studies, random programs and small worlds
    r"tb/sanlab/new\.py$",  # names the template of new layers
    r"tb/cocotb_test/template\.py$",  # a user's first test, which runs on some layer
)


def own(place: str, layer: str) -> bool:
    """Return True if a file, by its path in the repository, belongs to a layer."""
    return any(re.match(pattern.format(layer), place) for pattern in OWN)


STANDS_ON = re.compile(r"\b(?:STANDS_ON|stands_on) ?= ?\(([^)]*)\)")


def below(root: Path, place: str) -> frozenset[str]:
    """Return the layers that a file may name because its own layer or application runs on them."""
    folder = re.match(r"(firmware/applications/\w+/|tb/studies/\w+/fuzz/)|firmware/\w+/(?!nic/)", place)
    package = root / folder[0] / ("__init__.py" if folder[1] else "layer.py") if folder else root
    stands = STANDS_ON.search(package.read_text(encoding="utf-8")) if package.is_file() else None
    return frozenset(re.findall(r'"(\w+)"', stands[1])) if stands else frozenset()


def in_python(lines: Iterable[tuple[int, str]], layer: str) -> Iterator[int]:
    """Yield the lines that name a layer, as a string or as part of a module or path.

    The module of a study may be named, because it is found by its own name.
    """
    part = re.compile(rf"(?:^|[./])(?:firmware|studies)[./]{layer}(?=$|[./](?!{layer}_\w+))")
    return naming(lines, layer, part)


def offences(root: Path, layers: Sequence[str]) -> list[str]:
    """Return every place that names a layer and does not belong to it, as `file:line: names layer`."""
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
