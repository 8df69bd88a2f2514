"""Registration where the NIC has no translation tables: the kernel moves the memory to where it is contiguous.

The first Berkeley VIA had no registration at all, but buffers that were contiguous and pinned from the beginning (paper
001, 2.2.3 and 3.4); so has this one once they are registered, and what the NIC does with an address is the same.
"""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.host.common.errors import Result, VipError
from pymodels.host import ProtectionFault
from pymodels.host.pages import PAGE
from pymodels.host.process import Process


async def gather(host: Host, process: Process, va: int, size: int) -> None:
    """Move a range of a process to contiguous memory, unless it is there. Raises VipError when it cannot be moved."""
    try:
        process.pieces(va, size)
    except ProtectionFault:
        return  # whoever pins it says what is wrong with it
    try:
        moved = process.gather(va, size)
    except (ProtectionFault, MemoryError) as cause:
        what = f"registering {size} bytes at {va:#x}: {cause}"
        raise VipError(Result.ERROR_RESOURCE, what, "register memory that overlaps in one piece") from cause
    for old, new in moved:
        await host.copy_memory("copy_line", old, new, PAGE)
        host.store_bytes(old, bytes(PAGE))
    process.host.frames.give_back([old for old, _ in moved])
