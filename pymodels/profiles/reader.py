"""Reader of profile files, with a check of every key against the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pymodels.costs.targets import HOSTS
from pymodels.errors import ConfigError, nearest
from pymodels.hardware.discover import nic_kinds
from pymodels.hardware.schema import Key, Origin, Owner, fault_of
from pymodels.hardware.value import Value
from pymodels.profiles.keys import keys_of
from pymodels.toml import line_of, parsed, read_text

FIELDS = ("value", "unit", "origin", "source")
TOP: dict[Owner, dict[str, type]] = {
    Owner.NIC: {"title": str, "kind": str, "rtl": bool, "host": str},
    Owner.HOST: {"title": str, "processor": str},
}
"""Top-level keys of a profile file and their types."""
PAIRS = "with"


@dataclass(frozen=True)
class ProfileFile:
    """Checked profile file. `pairs` contains, for each host, the values that apply only with that host."""

    path: str
    text: str
    name: str
    kind: str
    rtl: bool
    host: str
    processor: str
    """Processor of a host, which selects the compiled costs (`pymodels.costs.targets.HOSTS`)."""
    values: dict[str, Value]
    pairs: dict[str, dict[str, Value]]

    def error(self, key: str, what: str, cause: str, remedy: str) -> ConfigError:
        """Return a ConfigError at a top-level key of the file."""
        return ConfigError(self.path, line_of(self.text, "", key), what, cause, remedy)


class _Reader:
    """Reader of the values of one file, with path and text for error messages."""

    def __init__(self, path: Path, text: str, owner: Owner) -> None:
        self.path = path
        self.owner = owner
        self.data, self.text = parsed(path, text), text

    def error(self, table: str, key: str, what: str, cause: str, remedy: str) -> ConfigError:
        return ConfigError(str(self.path), line_of(self.text, table, key), what, cause, remedy)

    def top(self) -> dict[str, Any]:
        """Return the top-level values, before the first table."""
        wanted = TOP[self.owner]
        found = {name: value for name, value in self.data.items() if not isinstance(value, dict)}
        for name in found:
            if name not in wanted:
                raise self.error("", name, f"unknown key {name!r}", "no profile has it", nearest(name, wanted))
        for name, kind in wanted.items():
            if not isinstance(found.get(name), kind):
                cause = f"{name} is {found[name]!r}" if name in found else f"{name} is missing"
                raise self.error(
                    "",
                    name,
                    "wrong type" if name in found else "value missing",
                    cause,
                    f"write {name} = <{kind.__name__}>",
                )
        if self.owner is Owner.NIC and (nic := found["kind"]) not in nic_kinds():
            raise self.error("", "kind", "unknown kind of NIC", repr(nic), nearest(nic, nic_kinds()))
        if self.owner is Owner.HOST and (name := found["processor"]) not in HOSTS:
            cause = f"no paths are compiled for {name!r}"
            raise self.error("", "processor", "unknown processor of a host", cause, nearest(name, HOSTS))
        return found

    def values(self, tables: Mapping[str, Any], above: str, known: Mapping[str, Key]) -> dict[str, Value]:
        """Return the values of tables such as `clock`; `above` is the prefix of the table names in brackets."""
        values: dict[str, Value] = {}
        for table, entries in tables.items():
            title = above + table
            if not isinstance(entries, dict):
                raise self.error(
                    above.rstrip("."),
                    table,
                    f"unknown key {table!r}",
                    "a value must be in a table",
                    "put it below [table]",
                )
            for name, entry in entries.items():
                key = f"{table}.{name}"
                if key not in known:
                    cause = f"a {self.owner.value} profile has no such value"
                    raise self.error(title, name, f"unknown key {key!r}", cause, nearest(key, known))
                values[key] = self.value(title, name, known[key], entry)
        return values

    def value(self, title: str, name: str, key: Key, entry: object) -> Value:
        """Return one value with its unit, origin and source."""
        if not isinstance(entry, dict) or set(entry) != set(FIELDS):
            has = f"it has {', '.join(entry)}" if isinstance(entry, dict) else f"it is {entry!r}"
            raise self.error(
                title,
                name,
                f"{key.name} incomplete",
                has,
                "write { value = ..., unit = ..., origin = ..., source = ... }",
            )
        origins = [origin.value for origin in Origin]
        if entry["origin"] not in origins:
            remedy = nearest(str(entry["origin"]), origins)
            raise self.error(title, name, "unknown origin", f"{key.name} has {entry['origin']!r}", remedy)
        if entry["unit"] != key.unit:
            cause = f"{key.name} is in {entry['unit']!r}"
            raise self.error(title, name, "wrong unit", cause, f"write unit = {key.unit!r}")
        if not isinstance(entry["source"], str) or not entry["source"].strip():
            raise self.error(title, name, "source missing", f"{key.name} names none", "say where the value comes from")
        fault = fault_of(key, entry["value"])
        if fault:
            raise self.error(title, name, *fault)
        return Value(entry["value"], entry["unit"], Origin(entry["origin"]), entry["source"])


def read_profile_file(path: Path, owner: Owner) -> ProfileFile:
    """Return the content of a NIC's or a host's file. Raises ConfigError, with its line, for the first mistake."""
    return _checked(path, read_text(path), owner)


@cache
def _checked(path: Path, text: str, owner: Owner) -> ProfileFile:
    """Return the checked file with this text; cached, since every run loads the same few files."""
    reader = _Reader(path, text, owner)
    top = reader.top()
    kind = top.get("kind", "")
    own = keys_of(owner, kind)
    every = own | keys_of(Owner.HOST)
    tables = {name: value for name, value in reader.data.items() if name not in TOP[owner] and name != PAIRS}
    pairs = reader.data.get(PAIRS, {}) if owner is Owner.NIC else {}
    if owner is Owner.HOST and PAIRS in reader.data:
        tables[PAIRS] = reader.data[PAIRS]
    return ProfileFile(
        path=str(path),
        text=reader.text,
        name=path.stem,
        kind=kind,
        rtl=top.get("rtl", True),
        host=top.get("host", path.stem),
        processor=top.get("processor", ""),
        values=reader.values(tables, "", own),
        pairs={host: reader.values(entries, f"{PAIRS}.{host}.", every) for host, entries in pairs.items()},
    )
