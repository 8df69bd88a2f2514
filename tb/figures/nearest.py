"""Null model: the published value of the nearest other system predicts the value of a row.

A model is worth its effort only if its error is less than that of a reader who takes the number of a similar system.
The other system is chosen by rule, without a look at its value:

1. a value of the same quantity that the paper prints for a system without a model (`others.toml`);
2. else the row of the same quantity and paper for another system that shares most with the row, in this order: family,
   profile, settings, table; of equal ones, the first by name.

Two rows have the same quantity if their study and metric are equal without the names of systems, or if QUANTITIES has
both. Rows that agree by construction, bounds and half bandwidths take no part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pymodels.errors import ConfigError
from pymodels.published import Published
from pymodels.published_roles import Role, Scale
from pymodels.published_scores import score
from pymodels.toml import read_toml
from tb.figures.rows import Group, Row, apart

FILE = Path(__file__).with_name("others.toml")
KEYS = {"row": str, "value": float, "system": str, "source": str}
IN_METRIC = re.compile(r"_?(?:lanai\d+|\d+MHz|pci\d+_\d+(?:_wc)?|firmvia|bvia\d?|udp|lapi|native)(?=_|$)")
"""Words of systems in the name of a metric."""
IN_NAME = re.compile(
    r"FirmVIA|Berkeley VIA(?: \d)?|M-VIA|Giganet VIA|Servernet VIA|AM-II|generic AM|HPAM|SSAM|native MPI|MPI-LAPI"
    r"|LANai \d+(?: at \d+ MHz)?|over (?:UDP|VIA)\b|PCI \d+/\d+"
)
"""Words of systems in the name of a row."""
QUANTITIES = {
    ("via_compare", "_us"): "one way of a short message over VIA",
    ("firmvia_latency", "one_way_us_4B"): "one way of a short message over VIA",
    ("via_compare", "_MBps"): "bandwidth of VIA",
    ("firmvia_bandwidth", "bandwidth_MBps_peak"): "bandwidth of VIA",
    ("am2_latency", "one_way_us_to_endpoint"): "one way of an active message",
    ("ssam_kernel", "one_way_us_4B"): "one way of an active message",
    ("am2_bandwidth", "bandwidth_MBps_8192B"): "bandwidth of active messages",
    ("am_put_get", "bandwidth_MBps"): "bandwidth of active messages",
    ("hpam_request_reply", "bandwidth_MBps"): "bandwidth of active messages",
    ("ssam_kernel", "bandwidth_MBps"): "bandwidth of active messages",
}
"""Quantities that several studies measure, by study and metric without the names of systems."""
PAPER = re.compile(r"paper (\d+)")
COMPARABLE = (Role.TEST, Role.TRAIN, Role.INPUT)


@dataclass(frozen=True)
class Nearest:
    """Published value of another system for the quantity of a row."""

    row: Row
    system: str
    source: str
    value: float

    @property
    def error(self) -> float:
        """Error of the other system's value relative to the row's published value, on the scale of the row."""
        return apart(_score(self.row.value, self.value), self.row.published)


@dataclass(frozen=True)
class Other:
    """Published value of a system that is not modelled."""

    row: str
    value: float
    system: str
    source: str


def load_others(path: Path = FILE) -> dict[str, Other]:
    """Return the values of systems without a model by row. Raises ConfigError for an incomplete entry."""
    data, text = read_toml(path)
    starts = [at for at, line in enumerate(text.splitlines(), 1) if line.strip() == "[[value]]"]
    found = {}
    for line, entry in zip(starts, data.get("value", []), strict=True):
        if {key: type(value) for key, value in entry.items()} != KEYS:
            cause, remedy = ", ".join(entry), f"write {', '.join(KEYS)}; value is a number with a fraction"
            raise ConfigError(str(path), line, "invalid value of another system", cause, remedy)
        found[entry["row"]] = Other(**entry)
    return found


def quantity(value: Published) -> tuple[str, ...]:
    """Return the key of a row's quantity: study and metric without the names of systems, and unit."""
    measured = value.study, IN_METRIC.sub("", value.metric)
    return (*((QUANTITIES[measured],) if measured in QUANTITIES else measured), value.unit)


def system(value: Published) -> str:
    """Return the words of the system in the name of a row, or the profile of a row without such words."""
    return ", ".join(IN_NAME.findall(value.name)) or value.profile


def null_model(found: Sequence[Row]) -> dict[str, Nearest]:
    """Return the value of the nearest other system for each prediction that has one, by name of the row."""
    values, others = [row.value for row in found], load_others()
    told = {}
    for row in predictions(found):
        other = others.get(row.value.name)
        if other:
            told[row.value.name] = Nearest(row, other.system, other.source, other.value)
        elif near := _nearest(row.value, values):
            told[row.value.name] = Nearest(row, near.name, near.source, near.value)
    return told


def predictions(found: Sequence[Row]) -> list[Row]:
    """Return the measured predictions of quantities, for which an error in per cent has a meaning."""
    return [row for row in found if row.group is Group.TEST and row.today and not row.counted]


def _nearest(value: Published, values: Sequence[Published]) -> Published | None:
    if value.scored is Scale.RATE:
        return None
    alike = [
        one
        for one in values
        if one.role in COMPARABLE
        and quantity(one) == quantity(value)
        and paper(one) == paper(value)
        and system(one) != system(value)
    ]

    def differences(one: Published) -> tuple[tuple[bool, ...], str]:
        pairs = ((one.family, value.family), (one.profile, value.profile), (one.settings, value.settings))
        return (*(a != b for a, b in pairs), one.table != value.table), one.name

    return min(alike, key=differences, default=None)


def paper(value: Published) -> str:
    """Return the number of the paper in the source of a row, or an empty text."""
    match = PAPER.search(value.source)
    return match[1] if match else ""


def _score(value: Published, other: float) -> float:
    """Return another published value on the scale of a row; the papers print improvements on that scale."""
    return other if value.scored is Scale.IMPROVEMENT else score(value, other)
