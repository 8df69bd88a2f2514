"""Sources in the older syntax that Yosys' own reader takes, for proofs and for the check of clock crossings.

That reader knows the constructs of proofs, which its slang reader lacks, but neither `import` nor `return`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from types import MappingProxyType

from tb.build.build import Design, needed_files
from tb.quality.text import bare, uncommented

IMPORT = re.compile(r"\bimport\s+(\w+)::\*\s*;")
DECLARED = re.compile(
    r"\blocalparam\b[^=;]*?(\w+)\s*=|\bfunction\b[^;(]*?(\w+)\s*[;(]|\btypedef\b[^{;]*\{[^}]*\}\s*(\w+)\s*;"
)
ENUM = re.compile(r"\btypedef\s+enum\b[^{;]*\{([^}]*)\}\s*(\w+)\s*;")
STRUCT = re.compile(r"\btypedef\s+struct\s+packed\s*\{([^}]*)\}\s*(\w+)\s*;")
FIELD = re.compile(r"\s*(?P<type>\w+)\s*(?P<ranges>(?:\[\d+:0\]\s*)*)(?P<names>\w[\w\s,]*)")
BITS = re.compile(r"\$bits\((?:\w+::)?(\w+)\)")
LAST_RETURN = re.compile(
    r"(\bfunction\b[^;(]*?)(\w+)(\s*[;(](?:(?!\bendfunction\b).)*?)\breturn\b([^;]*;\s*endfunction)", re.DOTALL
)
NAME = re.compile(r"(?<![\w.$`])(?<!::)[A-Za-z_]\w*\b(?!::)")


def imports_resolved(text: str, packages: dict[str, str]) -> str:
    """Return source text with names imported by `import p::*` written as `p::name`, since Yosys reads no imports."""
    for package in IMPORT.findall(text):
        text = _renamed(text, {name: f"{package}::{name}" for name in _declared(bare(packages[package]))})
    return IMPORT.sub("", text)


def _inlined(package: str, packages: Mapping[str, str]) -> str:
    """Return a package with the text of the packages that it imports, since Yosys reads each package by itself."""

    def body(found: re.Match[str]) -> str:
        inside = re.search(r"\bpackage\s+\w+\s*;(.*)\bendpackage\b", packages[found[1]], re.DOTALL)
        return _inlined(inside[1], packages) if inside else ""

    return IMPORT.sub(body, uncommented(package))


def _declared(package: str) -> Iterator[str]:
    """Yield the names that a package declares, members of enumerations included."""
    yield from (name for found in DECLARED.findall(package) for name in found if name)
    for members, _ in ENUM.findall(package):
        yield from (member.partition("=")[0].strip() for member in members.split(","))


def widths(packages: Iterable[str]) -> dict[str, int]:
    """Return the bits of each packed struct and enumeration of packages, which are in the order of their use."""
    found = {"logic": 1}
    for package in map(bare, packages):
        for base, name in re.findall(r"\btypedef\s+enum\s+logic\s*\[(\d+):0\][^}]*\}\s*(\w+)\s*;", package):
            found[name] = int(base) + 1
        for fields, name in STRUCT.findall(package):
            found[name] = sum(_field_bits(field, found) for field in fields.split(";") if field.strip())
    return found


def _field_bits(field: str, known: Mapping[str, int]) -> int:
    """Return the bits of the fields of one declaration in a struct."""
    match = FIELD.fullmatch(field)
    assert match, f"field {field.strip()!r} of a packed struct: unknown form; write its ranges in numbers"
    each = prod(int(high) + 1 for high in re.findall(r"\d+", match["ranges"].replace(":0", "")))
    return known[match["type"]] * each * len(match["names"].split(","))


def bits_resolved(text: str, known: Mapping[str, int]) -> str:
    """Return source text with `$bits(type)` written as a number, since Yosys applies `$bits` to signals only."""
    return BITS.sub(lambda found: str(known[found[1]]) if found[1] in known else found[0], text)


def _renamed(text: str, names: dict[str, str]) -> str:
    """Return text with plain names replaced; members, macros and parts of scoped names are kept."""
    return NAME.sub(lambda found: names.get(found[0], found[0]), text)


def returns_resolved(text: str) -> str:
    """Return source text in which a function's last `return x` is an assignment to its name, since Yosys reads no
    `return`.
    """
    return LAST_RETURN.sub(r"\1\2\3\2 =\4", text)


def sources(top: str, folder: Path, texts: Mapping[str, str] = MappingProxyType({})) -> Iterator[Path]:
    """Write the files of a block in a form for Yosys and yield them, packages first; `texts` replaces modules."""
    files = needed_files(Design(top))
    packages = {path.stem: path.read_text(encoding="utf-8") for path in files if path.stem.endswith("_pkg")}
    known = widths(packages.values())
    for path in sorted(files, key=lambda one: one.stem not in packages):
        copy = folder / path.name
        text = uncommented(texts[path.stem] if path.stem in texts else path.read_text(encoding="utf-8"))
        text = _inlined(text, packages) if path.stem in packages else imports_resolved(text, packages)
        text = bits_resolved(returns_resolved(text), known)
        copy.write_text(text, encoding="utf-8")
        yield copy
