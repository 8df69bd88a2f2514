"""Do the bytes of a remote memory operation come from the wire?

Strategy: one operation of each kind with known bytes; the content of its target is compared byte by byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import bring_up
from tests.system.scenarios import faults

KINDS = ("RM-V", "RM-V-scattered", "RM-P", "RM-RV", "wild")
NOWHERE = 0x3F0_0000
"""Unallocated physical address."""
OPTIONS = {
    "size": Option(200, "bytes of the operation", 4, 4096),
    "kind": Option("RM-V", "the operation", choices=KINDS),
    **faults.OPTIONS,
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    libraries = lab.start_layer("grim")
    size, kind = lab.option("size"), lab.text("kind")
    near, far = libraries[0], libraries[-1]
    await bring_up(lab, libraries, [{} for _ in libraries])
    faults.inject(lab)
    data = np.random.default_rng(1).integers(0, 256, size, dtype=np.uint8).tobytes()
    source_at, target_at = (far, near) if kind == "RM-RV" else (near, far)
    source = await source_at.malloc_pinned(size)
    allocate: Any = target_at.pin_user_memory if kind == "RM-V-scattered" else target_at.malloc_pinned
    target, lock = await allocate(size), await target_at.malloc_pinned(4)
    source_at.store_pinned(source, data)
    target_at.store_pinned(lock, b"wait")
    where = near.get_dest_id(far.get_my_vnn())
    if kind == "RM-RV":
        await near.fetch_memory(where, target, source, size, lock=lock)
        await near.wait_for_lock(lock, 0)
    elif kind in ("RM-P", "wild"):
        physical = NOWHERE if kind == "wild" else far.get_pinned_pa(target)
        await near.send_physical_memory(where, physical, source, size, lock=lock, value=1)
        await far.wait_for_lock(lock, 1)
    else:
        await near.send_memory(where, target, source, size, lock=lock, value=1)
        await far.wait_for_lock(lock, 1)
    lab.findings.messages += 1
    arrived = target_at.load_pinned(target, size)
    flipped = {at: a ^ b for at, (a, b) in enumerate(zip(data, arrived, strict=True)) if a != b}
    lab.metric("flipped", len(flipped))
    for at, change in flipped.items():
        lab.metric(f"flipped_{at}", change)
    lab.metric("interrupts", sum(library.translations_served for library in libraries))
    faults.hand_in_explained(lab)
