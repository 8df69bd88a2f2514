"""Roles, scales, families and classes of discrepancy of published values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError, nearest


class Role(str, Enum):
    """Use of a published value in calibration and in the summary of the page."""

    TRAIN = "train"
    """Measurement that conditions the uncertain values of its family."""
    TEST = "test"
    """Measurement that is compared with a prediction and never conditions a value."""
    DEFINITION = "definition"
    """Number that follows from the rules of the system or of the paper; it agrees by construction."""
    BOUND = "bound"
    """Limit, order or extreme, which a result meets or does not meet."""
    DUPLICATE = "duplicate_of"
    """Number that follows from another row, which the key `duplicate_of` names."""
    INPUT = "input"
    """Value of a profile, or of another system, measured again as a check."""


class Scale(str, Enum):
    """Scale on which a result is compared with the published value."""

    VALUE = "value"
    """The value itself."""
    GAIN = "gain"
    """Ratio of two times minus 1."""
    OVERHEAD = "overhead"
    """Number of processes divided by the speed-up, minus 1."""
    RATE = "rate"
    """Half bandwidth, as the bandwidth in MB/s at the published size."""
    IMPROVEMENT = "improvement"
    """Ratio of two times minus 1, in per cent; the study measures 1 minus the inverse ratio, in per cent."""


@dataclass(frozen=True)
class Discrepancy:
    """Class of model discrepancy: its standard deviation as a share of the scored value, and the reason."""

    share: float
    why: str


@dataclass(frozen=True)
class Family:
    """Group of rows whose systems share uncertain values."""

    what: str


def improvement(shorter: float) -> float:
    """Return the ratio of two times minus 1 in per cent, from the share by which the second is shorter in per cent."""
    return 100 * shorter / (100 - shorter) if shorter != 100 else math.inf


def load_classes(path: Path, data: Mapping[str, Any], text: str) -> tuple[dict[str, Discrepancy], dict[str, Family]]:
    """Return the classes of discrepancy and the families by name.

    Args:
        path: File, for error messages.
        data: Parsed content of the file.
        text: Text of the file.

    Raises:
        ConfigError: A class has other keys than `share` (0 to 1) and `why`, or a family others than `what`.
    """
    classes, families = {}, {}
    for name, entry in data.get("discrepancy", {}).items():
        share = entry.get("share")
        if set(entry) != {"share", "why"} or not _is_text(entry["why"]) or not _is_number(share) or not 0 <= share <= 1:
            remedy = "write share = 0 to 1, why = ..."
            raise ConfigError(str(path), _line(text, f"[discrepancy.{name}]"), "invalid class", f"{name}", remedy)
        classes[name] = Discrepancy(**entry)
    for name, entry in data.get("family", {}).items():
        if set(entry) != {"what"} or not _is_text(entry["what"]):
            raise ConfigError(str(path), _line(text, f"[family.{name}]"), "invalid family", name, "write what = ...")
        families[name] = Family(**entry)
    return classes, families


def check_role(path: Path, line: int, entry: Mapping[str, Any]) -> None:
    """Raise ConfigError for an invalid role, scale, deviation or list of calibrated values of one entry.

    Args:
        path: File, for error messages.
        line: Line of the entry.
        entry: Keys and values of the entry.
    """

    def fail(what: str, cause: str, remedy: str) -> None:
        raise ConfigError(str(path), line, what, f"{entry['name']}: {cause}", remedy)

    for key, kind in (("role", Role), ("scored", Scale)):
        word, known = entry.get(key, Scale.VALUE.value), [one.value for one in kind]
        if word not in known:
            fail(f"unknown {key}", repr(word), nearest(str(word), known))
    if not _is_number(entry["sd"]) or entry["sd"] < 0:
        fail("wrong type", f"sd is {entry['sd']!r}", "write a standard deviation in the unit of the value")
    if entry["sd"] == 0 and entry["role"] in (Role.TRAIN.value, Role.TEST.value):
        fail("missing deviation", "sd is 0", "write the resolution of the printed digits, divided by 3.46")
    if (entry["role"] == Role.DUPLICATE.value) != ("duplicate_of" in entry):
        fail(
            "duplicate", f"role is {entry['role']!r}", "write duplicate_of = <name of a row> with the role of this name"
        )
    if (entry.get("scored") == Scale.OVERHEAD.value) != _is_whole(entry.get("processes")):
        fail("scale", f"processes is {entry.get('processes')!r}", 'write their number with scored = "overhead"')
    if (entry.get("scored") == Scale.RATE.value) != ("peak" in entry):
        fail("scale", f"peak is {entry.get('peak')!r}", 'write the row of the peak with scored = "rate"')
    given = entry.get("given", [])
    if not isinstance(given, list) or not all(_is_text(one) for one in given):
        fail("wrong type", f"given is {given!r}", "write a list of keys of profiles, such as pci.*")


def check_names(
    path: Path, line: int, row: Any, names: Mapping[str, Any], classes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise ConfigError if a row refers to an unknown row, class of discrepancy or family.

    Args:
        path: File, for error messages.
        line: Line of the row.
        row: The published value.
        names: Published values by name.
        classes: Names of the families and of the classes of discrepancy, by key.
    """
    for key, known in classes.items():
        word = getattr(row, key)
        if word not in known:
            raise ConfigError(str(path), line, f"unknown {key}", f"{row.name}: {word!r}", nearest(word, known))
    for key in ("duplicate_of", "peak"):
        word = getattr(row, key)
        others = names.keys() - {row.name}
        if word and word not in others:
            raise ConfigError(str(path), line, "unknown row", f"{row.name}: {key} is {word!r}", nearest(word, others))
    if row.duplicate_of and names[row.duplicate_of].role is Role.DUPLICATE:
        cause = f"{row.name}: {row.duplicate_of!r} is a duplicate itself"
        raise ConfigError(str(path), line, "duplicate", cause, "name the row that it repeats")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _line(text: str, heading: str) -> int:
    return next((at for at, row in enumerate(text.splitlines(), 1) if row.strip() == heading), 0)
