"""Hardware profiles: value, unit, origin and source of every clock, buffer and cost."""

from pymodels.hardware.schema import Key, Origin, Owner
from pymodels.hardware.value import Value, Values
from pymodels.profiles.default import DEFAULT_KIND, DEFAULT_PROFILE
from pymodels.profiles.keys import every_key, keys_of
from pymodels.profiles.profile import (
    Profile,
    board_profile,
    check_profile_name,
    host_names,
    load_profile,
    parse_settings,
    profile_names,
    profiles_with_doorbells,
)

__all__ = [
    "DEFAULT_KIND",
    "DEFAULT_PROFILE",
    "Key",
    "Origin",
    "Owner",
    "Profile",
    "Value",
    "Values",
    "board_profile",
    "check_profile_name",
    "every_key",
    "host_names",
    "keys_of",
    "load_profile",
    "parse_settings",
    "profile_names",
    "profiles_with_doorbells",
]
