"""Blocks to place and route: module, parameters, profile, and the clocks that the profile names for them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pymodels.errors import nearest
from pymodels.profiles import Profile, load_profile
from pymodels.profiles.default import DEFAULT_PROFILE
from pymodels.toml import parsed, read_text
from tb.fpga.mapping import Block, hardware
from tb.quality.text import HDL
from tb.tools.programs import ToolError

TARGETS = Path(__file__).with_name("targets.toml")
FOLDER_CLOCKS = {
    "link": "link",
    "switch": "link",
    "prim": "link",
    "host": "pci",
    "card": "pci",
    "iocard": "pci",
    "nic": "nic",
}
"""Clock of the profile that is `clk` of the blocks in a folder of hdl."""


@dataclass(frozen=True)
class Target:
    """Block to place and route."""

    name: str
    block: Block
    profile: str
    goals: Mapping[str, float] = field(default_factory=dict)
    """Clock rates to reach in MHz, by clock of the block."""

    def required(self, clock: str) -> float | None:
        """Return the clock rate in MHz that the profile names for a clock of the block, or None without one."""
        prefix = clock.removesuffix("clk").rstrip("_")
        named = prefix or FOLDER_CLOCKS.get(hardware()[self.block.module].relative_to(HDL).parts[0], "")
        key = f"clock.{named}_ps"
        profile = self.loaded
        return 1e6 / profile.integer(key) if key in profile.values else None

    @property
    def loaded(self) -> Profile:
        """The profile. Raises ConfigError for an unknown name."""
        return load_profile(self.profile)


@functools.cache
def targets() -> dict[str, Target]:
    """Return the blocks that are routed together, by name."""
    read: dict[str, dict[str, Any]] = parsed(TARGETS, read_text(TARGETS))
    return {name: _target(name, given) for name, given in read.items()}


def _target(name: str, given: Mapping[str, Any]) -> Target:
    block = Block(given.get("module", name), given.get("parameters", {}))
    return Target(name, block, given["profile"], given.get("goals", {}))


def find(name: str, profile: str = "") -> Target:
    """Return a target by the name of targets.toml or of a module.

    Args:
        name: Name of the target.
        profile: Profile instead of the target's own; empty for that.

    Raises:
        ToolError: No target and no module of hardware has the name.
    """
    known = targets()
    if name not in known and name not in hardware():
        cause = "neither targets.toml nor hdl/sources.f has that name"
        raise ToolError(f"unknown block {name!r}", cause, nearest(name, [*known, *hardware()]))
    found = known.get(name) or Target(name, Block(name), DEFAULT_PROFILE)
    return replace(found, profile=profile) if profile else found
