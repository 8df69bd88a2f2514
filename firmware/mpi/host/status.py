"""What a receive or a probe tells of its message."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.mpi.host.datatypes import BYTE, Datatype

ANY_SOURCE, PROC_NULL, ANY_TAG, UNDEFINED = -2, -1, -1, -32766
"""As in MPICH."""
ROOT = -3
"""Root of a collective of an inter-communicator, at that root."""


@dataclass
class Status:
    """Filled in by the call that it is given to."""

    source: int = ANY_SOURCE
    """Rank in the communicator."""
    tag: int = ANY_TAG
    error: int = 0
    """Error class."""
    size: int = 0
    """Bytes of the message."""
    cancelled: bool = False

    def Get_source(self) -> int:
        """Rank of the sender in the communicator."""
        return self.source

    def Get_tag(self) -> int:
        """The message's tag."""
        return self.tag

    def Get_error(self) -> int:
        """Error class of the operation."""
        return self.error

    def Get_count(self, datatype: Datatype = BYTE) -> int:
        """Elements that have come; UNDEFINED for a part of one."""
        if not datatype.size:
            return 0
        count, rest = divmod(self.size, datatype.size)
        return UNDEFINED if rest else count

    def Is_cancelled(self) -> bool:
        """Whether the operation was cancelled."""
        return self.cancelled

    def take(self, other: Status) -> None:
        """All of another one."""
        self.__dict__.update(other.__dict__)
