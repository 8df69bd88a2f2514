"""Which profile fits a message layer: its usual one, where the user names none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firmware.layer import Options
from firmware.layers import composition, has_program, load
from firmware.stack import stack
from pymodels.costs.assembly import CostError
from pymodels.costs.table import PathTable
from pymodels.profiles import DEFAULT_PROFILE, Profile, load_profile, profile_names


def fitting_profile(layer: str, options: Mapping[str, Options]) -> Profile:
    """The profile of the card that a layer drives; else the default one, if the layer and all below are compiled for
    it; else the first that they are compiled for. `options` of each layer by its name. Raises LookupError.
    """
    for profile in fitting_profiles(layer, options):
        return profile
    raise LookupError(f"layer {layer!r} is compiled for no NIC with RTL")


def fitting_profiles(layer: str, options: Mapping[str, Options]) -> Iterator[Profile]:
    """Yield the profiles with RTL on which a layer and all below run, the usual one first. `options` of each layer by
    its name.
    """
    layers = stack((layer,), options)
    drives = next((kind.name for one in layers if (kind := load(one).drives)), "")
    for name in (drives,) if drives else (DEFAULT_PROFILE, *profile_names()):
        profile = load_profile(name)
        if profile.rtl and all(_compiled(one, profile, options.get(one, {})) for one in layers):
            yield profile


def _compiled(layer: str, profile: Profile, options: Options) -> bool:
    parts = composition(layer, options)
    try:
        PathTable.of_host(layer, profile.host_target, parts)
        if has_program(layer):
            PathTable.of_nic(layer, profile.nic.target, parts)
    except CostError:
        return False
    return True
