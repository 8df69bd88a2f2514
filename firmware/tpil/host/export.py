"""Export of a measured configuration for other programs: a TOML file, and a C header (paper 003, C.7).

Both hold the cut-offs of aligned and of misaligned transfers. The header also has the choice itself, `tpil_choose`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from firmware.tpil.host.config import Config, CutOffs, Method
from firmware.tpil.host.errors import TpilError
from pymodels.errors import nearest
from pymodels.toml import read_toml

PLACES = ("aligned", "askew")
"""Tables of a file: transfers with source and target equal modulo 8, and others."""


def write_config(path: Path, config: Config) -> None:
    """Write a configuration as a TOML file, which `read_config` reads."""
    lines = ["# Cut-offs of TPIL: from `first` bytes on, a transfer uses `method`."]
    for place in PLACES:
        for first, method in _cuts(config, place):
            lines += ["", f"[[{place}]]", f"first = {first}", f'method = "{method.value}"']
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def read_config(path: Path) -> Config:
    """Return the configuration in a TOML file.

    Raises:
        ConfigError: The file is missing or is not TOML.
        TpilError: The file has no valid cut-offs; the message names table and entry.
    """
    table, _ = read_toml(path)
    for name in table:
        if name not in PLACES:
            raise TpilError(f"{path}: unknown table", repr(name), nearest(name, PLACES))
    return Config(*(_read(f"{path}: {place}", table.get(place)) for place in PLACES))


def _read(what: str, entries: Any) -> CutOffs:
    """Return the cut-offs of one table. Raises TpilError."""
    if not isinstance(entries, list) or not entries:
        raise TpilError(what, "no cut-offs", "write [[table]] with first and method")
    cuts: list[tuple[int, Method]] = []
    for number, entry in enumerate(entries, 1):
        where = f"{what}, entry {number}"
        if not isinstance(entry, dict) or set(entry) != {"first", "method"}:
            raise TpilError(where, "not an entry with first and method alone", "write these two keys")
        first, method = entry["first"], entry["method"]
        if type(first) is not int or not 0 <= first < 1 << 32:
            raise TpilError(where, f"first is {first!r}", "give a number of bytes below 2**32")
        if cuts and first <= cuts[-1][0]:
            raise TpilError(where, f"first is {first}, not above {cuts[-1][0]}", "sort the entries")
        if not cuts and first:
            raise TpilError(where, f"first is {first}", "begin with first = 0")
        if method not in {known.value for known in Method}:
            remedy = nearest(str(method), [known.value for known in Method])
            raise TpilError(where, f"unknown method {method!r}", remedy)
        cuts.append((first, Method(method)))
    return tuple(cuts)


def write_header(path: Path, config: Config) -> None:
    """Write a configuration as a C header (C99): the cut-offs, and `tpil_choose` with the rule of `Config.choose`."""
    methods = ",\n".join(f"    TPIL_{method.name}" for method in Method)
    lines = [
        "/* Cut-offs of TPIL: from `first` bytes on, a transfer uses `method`. Written by the benchmark. */",
        "#ifndef TPIL_CONFIG_H",
        "#define TPIL_CONFIG_H",
        "",
        "#include <stdint.h>",
        "",
        f"enum tpil_method {{\n{methods}\n}};",
        "struct tpil_cutoff { uint32_t first; enum tpil_method method; };",
    ]
    for place in PLACES:
        rows = [f"    {{ {first}u, TPIL_{method.name} }}" for first, method in _cuts(config, place)]
        lines += ["", f"static const struct tpil_cutoff tpil_{place}[] = {{", ",\n".join(rows), "};"]
    lines += [
        "",
        "/* Method for `bytes` from address `source` to offset `target` of the card. */",
        "static inline enum tpil_method tpil_choose(uint64_t source, uint64_t target, uint64_t bytes) {",
        "    const int askew = ((source ^ target) & 7) != 0;",
        "    const struct tpil_cutoff *cuts = askew ? tpil_askew : tpil_aligned;",
        "    unsigned count = askew ? sizeof tpil_askew / sizeof *cuts : sizeof tpil_aligned / sizeof *cuts;",
        "    while (count > 1 && bytes < cuts[count - 1].first) count--;",
        "    return cuts[count - 1].method;",
        "}",
        "",
        "#endif",
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def _cuts(config: Config, place: str) -> CutOffs:
    return config.aligned if place == "aligned" else config.askew
