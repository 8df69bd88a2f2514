"""What a campaign disturbs where nobody says what: `defaults.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pymodels.toml import read_toml


@dataclass(frozen=True)
class Defaults:
    """Layers and profiles where none is named; layers that promise each message once and in order, or an error; options
    of layers that repair losses only where they are told to.
    """

    layers: Sequence[str]
    profiles: Sequence[str]
    ordered: Sequence[str]
    repairs: Mapping[str, Mapping[str, int]]


DEFAULTS = Defaults(**read_toml(Path(__file__).with_suffix(".toml"))[0])
