"""LANai 9 of the machine."""

from __future__ import annotations

from pymodels.machine.nic import ModelNic


class ModelNic9(ModelNic):
    """LANai with all engines."""

    kind = "lanai9"


NIC = ModelNic9
