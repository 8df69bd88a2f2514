"""What a host's VIs lack, for reports of who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pymodels.waiting import Wait, Wanted

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel
    from firmware.host.via.library.vi import Vi


def full(kernel: Kernel) -> Iterator[Wait]:
    """Descriptors for which the NIC's queue of sends has no room."""
    if count := len(kernel.sends.waiting):
        yield Wait(kernel.host.who, Wanted(f"room in the send queue for {count} descriptors", f"NIC {kernel.me}"))


def posted(vis: Sequence[Vi]) -> Iterator[Wait]:
    """What a process has posted and not taken back. It may not wait for it, so nobody is said to hold it."""
    for vi in vis:
        peer = f"VI {vi.number} ({vi.state.name.lower()}, peer at node {vi.kernel.peer})"
        for count, what in ((len(vi.sends), "send"), (len(vi.receives), "receive")):
            if count:
                yield Wait(vi.nic.host.who, Wanted(f"the end of {count} {what}{'s' * (count > 1)} posted on {peer}"))
