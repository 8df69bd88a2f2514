"""Errors of transactions on a PCI bus."""

from __future__ import annotations

from pymodels.errors import SanlabError
from pymodels.pci.pci import Command


class PciError(SanlabError):
    """Failed transaction or invalid use of an agent."""


class TransferError(PciError):
    """Transfer that the master did not complete.

    Attributes:
        command: Bus command.
        address: Address of the transfer.
        moved: Bytes that were moved before the error.
    """

    cause_text, remedy_text = "", ""

    def __init__(self, command: Command, address: int, moved: int) -> None:
        super().__init__(f"{command.name} {address:#010x}", self.cause_text.format(moved=moved), self.remedy_text)
        self.args = (command, address, moved)
        self.command, self.address, self.moved = command, address, moved


class MasterAbortError(TransferError):
    """Address that no target claimed with DEVSEL#."""

    cause_text = "no target asserted DEVSEL# (master abort)"
    remedy_text = "use an address inside an enabled window of a target"


class TargetAbortError(TransferError):
    """Transfer that the target ended with a target abort."""

    cause_text = "the target ended the transfer after {moved} bytes (target abort)"
    remedy_text = "read its status register for the reason, and do not repeat the transfer"


class RetryLimitError(TransferError):
    """Transfer that the target answered with Retry too often."""

    cause_text = "the target answered with Retry until the limit of the master"
    remedy_text = "raise `retry_limit` or make the target ready"


class ParityError(TransferError):
    """Completed transfer with wrong parity: found by the master (read) or reported by PERR# (write)."""

    cause_text = "wrong data parity in a transfer of {moved} bytes"
    remedy_text = "drive PAR with the even parity of AD and C/BE#, one clock after them"


class BusResetError(TransferError):
    """Transfer that was interrupted by the reset."""

    cause_text = "reset after {moved} bytes"
    remedy_text = "repeat the transfer after the reset"
