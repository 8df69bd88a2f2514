"""Status of a receive or a probe."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.mpi.host.datatypes import BYTE, Datatype

ANY_SOURCE, PROC_NULL, ANY_TAG, UNDEFINED = -2, -1, -1, -32766
"""Special ranks and tags, with MPICH's values."""
ROOT = -3
"""Root argument of an inter-communicator's collective at the root itself."""


@dataclass
class Status:
    """Status filled in by the call that it is passed to."""

    source: int = ANY_SOURCE
    """Rank in the communicator."""
    tag: int = ANY_TAG
    error: int = 0
    """Error class."""
    size: int = 0
    """Bytes of the message."""
    cancelled: bool = False

    def Get_source(self) -> int:
        """Return the rank of the sender in the communicator."""
        return self.source

    def Get_tag(self) -> int:
        """Return the message's tag."""
        return self.tag

    def Get_error(self) -> int:
        """Return the error class of the operation."""
        return self.error

    def Get_count(self, datatype: Datatype = BYTE) -> int:
        """Return the number of elements received; UNDEFINED if the last one is incomplete."""
        if not datatype.size:
            return 0
        count, rest = divmod(self.size, datatype.size)
        return UNDEFINED if rest else count

    def Is_cancelled(self) -> bool:
        """Return True if the operation was cancelled."""
        return self.cancelled

    def take(self, other: Status) -> None:
        """Copy another status."""
        self.__dict__.update(other.__dict__)
