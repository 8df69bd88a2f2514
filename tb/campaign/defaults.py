"""Defaults of a campaign, read from `defaults.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pymodels.toml import read_toml


@dataclass(frozen=True)
class Defaults:
    """Default layers and profiles of a campaign, and properties of layers.

    Attributes:
        layers: Layers of a campaign that names none.
        profiles: Profiles of a campaign that names none.
        ordered: Layers that promise to deliver each message once and in order, or to report an error.
        repairs: Options by layer that enable the repair of losses.
    """

    layers: Sequence[str]
    profiles: Sequence[str]
    ordered: Sequence[str]
    repairs: Mapping[str, Mapping[str, int]]


DEFAULTS = Defaults(**read_toml(Path(__file__).with_suffix(".toml"))[0])
