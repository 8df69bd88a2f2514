"""Choice of the profile for a message layer if the user names none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firmware.layer import Options
from firmware.layers import composition, has_program, load
from firmware.stack import stack
from pymodels.costs.assembly import CostError
from pymodels.costs.table import PathTable
from pymodels.profiles import DEFAULT_PROFILE, Profile, load_profile, profile_names


def fitting_profile(layer: str, options: Mapping[str, Options]) -> Profile:
    """Return the usual profile of a layer. Raises LookupError if the layer is compiled for no NIC with RTL.

    The first match is returned: the profile of the card that the layer drives; the default profile, if the layer and
    those below are compiled for it; the first other profile for which they are. `options` has the options of each layer
    by its name.
    """
    for profile in fitting_profiles(layer, options):
        return profile
    raise LookupError(f"layer {layer!r} is compiled for no NIC with RTL")


def fitting_profiles(layer: str, options: Mapping[str, Options]) -> Iterator[Profile]:
    """Yield the profiles with RTL on which a layer and those below it run, the usual one first.

    `options` has the options of each layer by its name.
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
