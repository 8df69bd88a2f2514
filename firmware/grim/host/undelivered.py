"""Translation of a NI's failure reports to exceptions (readings B5)."""

from __future__ import annotations

from firmware.grim.formats import Cause, Device, MessageType, Report
from firmware.grim.host.errors import CardPowerError, GrimError, UndeliveredError

PINNED = {
    Cause.NOT_REGISTERED: (
        "address",
        "{0} is not in pinned memory of VNN {1}",
        "give an address that malloc_pinned returned there and that is not freed",
    ),
    Cause.BEYOND: (
        "number of bytes",
        "the transfer at {0} exceeds its block on VNN {1}",
        "give a size that ends within the block",
    ),
    Cause.LOCK_NOT_REGISTERED: (
        "lock",
        "VNN {1} has no pinned memory at the lock of the transfer at {0}",
        "give an address in pinned memory there",
    ),
}
"""Errors of remote memory messages to a host by cause: argument, what is wrong, remedy."""
WINDOW = "give an offset within a window that the card's driver has opened and not closed"
WINDOWS = {
    Cause.NOT_REGISTERED: ("address", "{0} is in no open window of the card of VNN {1}", WINDOW),
    Cause.BEYOND: (
        "number of bytes",
        "the transfer at {0} exceeds its window on the card of VNN {1}",
        "give a size that ends within the window",
    ),
    Cause.LOCK_NOT_REGISTERED: (
        "lock",
        "the card of VNN {1} has no open window at the lock of the transfer at {0}",
        WINDOW,
    ),
}
"""Errors of remote memory messages to an FPGA card, like `PINNED`."""


def report_error(report: Report) -> GrimError:
    """Return the exception for a report."""
    vnn, cause, target = report.vnn, report.cause, report.target
    memory = WINDOWS if report.device == Device.CELOXICA else PINNED
    if cause in memory:
        argument, wrong, remedy = memory[Cause(cause)]
        return GrimError(argument, wrong.format(f"{target:#x}", vnn), remedy)
    if cause == Cause.FREED_HERE:
        late = f"target or lock was freed before the data from {target:#x} of VNN {vnn} arrived"
        return GrimError("target", late, "free memory after the lock is written")
    if cause == Cause.CARD_DOWN:
        lost = f"the card of VNN {vnn} has no power, or has not been started again"
        later = GrimError("destination", lost, "repeat the message when its driver has called restart")
        return later if report.kind else CardPowerError(vnn)
    if cause == Cause.HOST_DOWN:
        return UndeliveredError(vnn, report.first)
    if cause == Cause.INTERRUPTED and report.kind == MessageType.CARD_SEGMENT:
        late = f"segments of a message to the FPGA card of VNN {vnn} came too late"
        return GrimError("payload", late, "repeat the message, or increase option card_hold_us")
    if cause == Cause.INTERRUPTED:
        lost = f"part of the transfer at {target:#x} did not reach VNN {vnn}"
        return GrimError("destination", lost, "repeat the whole transfer")
    if cause == Cause.UNKNOWN_TREE:
        return GrimError("tree", f"VNN {vnn} is not the root of this multicast tree", "call find_multicast_tree again")
    refused = f"VNN {vnn}, channel {report.channel} rejected a message permanently (cause {cause})"
    return GrimError("destination", refused, "check the reference")
