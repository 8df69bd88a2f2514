"""What a process's VIs lack, for reports of who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firmware.via.host.library.vi import Vi
from pymodels.waiting import Wait, Wanted


def posted(vis: Sequence[Vi]) -> Iterator[Wait]:
    """What a process has posted and not taken back. It may not wait for it, so nobody is said to hold it."""
    for vi in vis:
        peer = f"VI {vi.number} ({vi.state.name.lower()}, peer at node {vi.context.peer})"
        for count, what in ((len(vi.sends), "send"), (len(vi.receives), "receive")):
            if count:
                yield Wait(vi.nic.host.who, Wanted(f"the end of {count} {what}{'s' * (count > 1)} posted on {peer}"))
