"""Keys of a profile: those of every host, those of every NIC, and those of its kind of NIC."""

from __future__ import annotations

from pymodels.hardware.discover import nic_kind, nic_kinds
from pymodels.hardware.schema import COMMON, Key, Owner


def keys_of(owner: Owner, kind: str = "") -> dict[str, Key]:
    """Return the keys of a host's file or of the file of a kind of NIC, by name."""
    keys = [key for key in COMMON if key.owner is owner]
    if owner is Owner.NIC:
        keys += nic_kind(kind).keys
    return {key.name: key for key in keys}


def every_key() -> dict[str, Key]:
    """Return the keys of all hosts and all kinds of NIC, by name."""
    of_nics = {name: key for kind in nic_kinds() for name, key in keys_of(Owner.NIC, kind).items()}
    return keys_of(Owner.HOST) | of_nics
