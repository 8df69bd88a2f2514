"""What a call of the library may end with (values of VIP_RETURN, from memory of the VI Provider Library)."""

from __future__ import annotations

from enum import Enum

from pymodels.errors import SanlabError


class Result(Enum):
    """Why a call failed: the specification's VIP_..."""

    INVALID_PARAMETER = "invalid parameter"
    ERROR_RESOURCE = "no resource is left"
    TIMEOUT = "time is up"
    REJECT = "the peer has rejected the connection"
    INVALID_RELIABILITY_LEVEL = "no such reliability level, or the two VIs have different reliability levels"
    INVALID_MTU = "no such maximum transfer size, or the two VIs have different ones"
    INVALID_STATE = "the VI is in a state that does not allow it"
    INVALID_PTAG = "the protection tag is not one of this process"
    NOT_REACHABLE = "no such node"


class VipError(SanlabError):
    """A call of the library was refused."""

    def __init__(self, result: Result, what: str, remedy: str) -> None:
        super().__init__(what, result.value, remedy)
        self.result = result
