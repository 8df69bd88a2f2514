"""Designs of a sweep: named sets of settings, which form the axis `design`.

The text form is `base: ; wide bus: pci.width=64 clock.pci_ps=15000`: semicolons separate designs, a colon follows each
name.
"""

from __future__ import annotations

from collections.abc import Mapping

from pymodels.errors import ConfigError
from pymodels.profiles import parse_settings
from tb.sweep.axes import Axis

AXIS = "design"
Designs = Mapping[str, Mapping[str, str]]


def parse_designs(text: str) -> dict[str, dict[str, str]]:
    """Return the settings of each design by name. Raises ConfigError for a missing or repeated name."""
    found: dict[str, dict[str, str]] = {}
    for part in filter(str.strip, text.split(";")):
        name, colon, settings = part.partition(":")
        name = name.strip()
        if not colon or not name or "=" in name:
            raise _error("design without a name", repr(part.strip()), 'write "name: key=value ...; name: ..."')
        if name in found:
            raise _error(f"{name!r} given twice", repr(text), "give each design a name of its own")
        found[name] = parse_settings(settings)
    return found


def axes_of(designs: Designs) -> tuple[Axis, ...]:
    """Return the axis of the designs; empty without designs."""
    return (Axis(AXIS, tuple(designs)),) if designs else ()


def _error(what: str, cause: str, remedy: str) -> ConfigError:
    return ConfigError("DESIGNS", 0, what, cause, remedy)
