"""What the NI's report of a message that can never succeed means to the caller (readings B5)."""

from __future__ import annotations

from firmware.grim.formats import Cause, Report
from firmware.grim.host.errors import GrimError, UndeliveredError


def report_error(report: Report) -> GrimError:
    """The error of a report."""
    vnn, cause, target = report.vnn, report.cause, report.target
    if cause == Cause.NOT_REGISTERED:
        remedy = "give an address that malloc_pinned returned there and that is not freed"
        return GrimError("address", f"{target:#x} is not in pinned memory of VNN {vnn}", remedy)
    if cause == Cause.BEYOND:
        remedy = "give a size that ends within the block"
        return GrimError("number of bytes", f"the transfer at {target:#x} goes beyond its block of VNN {vnn}", remedy)
    if cause == Cause.LOCK_NOT_REGISTERED:
        nowhere = f"VNN {vnn} has no pinned memory at the lock of the transfer at {target:#x}"
        return GrimError("lock", nowhere, "take a word of pinned memory there")
    if cause == Cause.FREED_HERE:
        late = f"the data from {target:#x} of VNN {vnn} came when target or lock was no longer pinned"
        return GrimError("target", late, "free memory when the lock says so")
    if cause == Cause.HOST_DOWN:
        return UndeliveredError(vnn, report.first)
    if cause == Cause.INTERRUPTED:
        lost = f"a part of the transfer at {target:#x} did not reach VNN {vnn}"
        return GrimError("destination", lost, "do all of it again")
    if cause == Cause.UNKNOWN_TREE:
        return GrimError("tree", f"VNN {vnn} is not the root of this multicast tree", "find it by its name")
    refused = f"VNN {vnn}, channel {report.channel} refused a message for ever (cause {cause})"
    return GrimError("destination", refused, "check the reference")
