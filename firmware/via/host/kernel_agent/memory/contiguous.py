"""Registration without translation tables on the NIC: the kernel moves the memory to contiguous frames.

The first Berkeley VIA had no registration, but buffers that were contiguous and pinned from the beginning (paper 001,
2.2.3 and 3.4). Here buffers become so when they are registered, and the NIC computes addresses in the same way.
"""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.host.common.errors import Result, VipError
from pymodels.host import ProtectionFault
from pymodels.host.pages import PAGE
from pymodels.host.process import Process


async def gather(host: Host, process: Process, va: int, size: int) -> None:
    """Move a range of a process to contiguous memory, unless it is. Raises VipError if that is impossible."""
    try:
        process.pieces(va, size)
    except ProtectionFault:
        return  # pinning reports the error
    try:
        moved = process.gather(va, size)
    except (ProtectionFault, MemoryError) as cause:
        what = f"registering {size} bytes at {va:#x}: {cause}"
        raise VipError(Result.ERROR_RESOURCE, what, "register overlapping memory as one region") from cause
    for old, new in moved:
        await host.copy_memory("copy_line", old, new, PAGE)
        host.store_bytes(old, bytes(PAGE))
    process.host.frames.give_back([old for old, _ in moved])
