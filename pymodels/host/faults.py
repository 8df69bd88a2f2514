"""Exceptions of the processor's memory management."""

from __future__ import annotations

from pymodels.errors import SanlabError


class ProtectionFault(SanlabError):  # noqa: N818 - the field's word for it
    """Access of a process to memory that its page tables do not map, for which a real host would kill it.

    Attributes:
        who: The process.
        tried: The access.
        address: Virtual address of the fault.
    """

    def __init__(self, who: str, what: str, address: int, cause: str = "nothing is mapped there") -> None:
        super().__init__(f"{who}: protection fault", f"{what} at {address:#x}: {cause}", "access mapped memory only")
        self.args = (who, what, address, cause)
        self.who = who
        self.tried = what
        self.address = address
