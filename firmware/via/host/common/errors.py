"""Results of library calls (values of VIP_RETURN, from memory of the VI Provider Library)."""

from __future__ import annotations

from enum import Enum

from pymodels.errors import SanlabError


class Result(Enum):
    """Reason of a failed call: the specification's VIP_... codes."""

    INVALID_PARAMETER = "invalid parameter"
    ERROR_RESOURCE = "out of resources"
    TIMEOUT = "timed out"
    REJECT = "rejected by the peer"
    INVALID_RELIABILITY_LEVEL = "invalid reliability level, or not the level of the other VI"
    INVALID_MTU = "invalid maximum transfer size, or not the size of the other VI"
    INVALID_STATE = "not allowed in the present state of the VI"
    INVALID_PTAG = "not a protection tag of this process"
    NOT_REACHABLE = "not another node of the cluster"


class VipError(SanlabError):
    """Failed call of the VIA library."""

    def __init__(self, result: Result, what: str, remedy: str) -> None:
        super().__init__(what, result.value, remedy)
        self.result = result
