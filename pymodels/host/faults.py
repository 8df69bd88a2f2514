"""What the processor's memory management refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class ProtectionFault(SanlabError):  # noqa: N818 - the field's word for it
    """A process accessed memory that its page tables do not map. On a real host it would be killed.

    `who` did it, what it `tried`, and the virtual `address` at which it was stopped.
    """

    def __init__(self, who: str, what: str, address: int, cause: str = "nothing is mapped there") -> None:
        super().__init__(f"{who}: protection fault", f"{what} at {address:#x}: {cause}", "touch only what is mapped")
        self.args = (who, what, address, cause)
        self.who = who
        self.tried = what
        self.address = address
