"""Hardware profiles: what every clock, buffer and cost is, and where the figure comes from."""

from pymodels.profiles.profile import (
    Profile,
    check_profile_name,
    host_names,
    load_profile,
    parse_settings,
    profile_names,
)
from pymodels.profiles.schema import SCHEMA, Key, Origin, Owner
from pymodels.profiles.value import Value

__all__ = [
    "SCHEMA",
    "Key",
    "Origin",
    "Owner",
    "Profile",
    "Value",
    "check_profile_name",
    "host_names",
    "load_profile",
    "parse_settings",
    "profile_names",
]
