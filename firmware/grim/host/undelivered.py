"""Translation of a NI's failure reports to exceptions (readings B5)."""

from __future__ import annotations

from firmware.grim.formats import Cause, Report
from firmware.grim.host.errors import GrimError, UndeliveredError


def report_error(report: Report) -> GrimError:
    """Return the exception for a report."""
    vnn, cause, target = report.vnn, report.cause, report.target
    if cause == Cause.NOT_REGISTERED:
        remedy = "give an address that malloc_pinned returned there and that is not freed"
        return GrimError("address", f"{target:#x} is not in pinned memory of VNN {vnn}", remedy)
    if cause == Cause.BEYOND:
        remedy = "give a size that ends within the block"
        return GrimError("number of bytes", f"the transfer at {target:#x} exceeds its block on VNN {vnn}", remedy)
    if cause == Cause.LOCK_NOT_REGISTERED:
        nowhere = f"VNN {vnn} has no pinned memory at the lock of the transfer at {target:#x}"
        return GrimError("lock", nowhere, "give an address in pinned memory there")
    if cause == Cause.FREED_HERE:
        late = f"target or lock was freed before the data from {target:#x} of VNN {vnn} arrived"
        return GrimError("target", late, "free memory after the lock is written")
    if cause == Cause.HOST_DOWN:
        return UndeliveredError(vnn, report.first)
    if cause == Cause.INTERRUPTED:
        lost = f"part of the transfer at {target:#x} did not reach VNN {vnn}"
        return GrimError("destination", lost, "repeat the whole transfer")
    if cause == Cause.UNKNOWN_TREE:
        return GrimError("tree", f"VNN {vnn} is not the root of this multicast tree", "call find_multicast_tree again")
    refused = f"VNN {vnn}, channel {report.channel} rejected a message permanently (cause {cause})"
    return GrimError("destination", refused, "check the reference")
