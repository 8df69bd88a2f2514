"""Waits of a process's VIs, for hang reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firmware.via.host.library.vi import Vi
from pymodels.waiting import Wait, Wanted


def posted(vis: Sequence[Vi]) -> Iterator[Wait]:
    """Return the posted descriptors that are not taken back, as waits without a holder: the process may not wait for
    them.
    """
    for vi in vis:
        peer = f"VI {vi.number} ({vi.state.name.lower()}, peer at node {vi.context.peer})"
        for count, what in ((len(vi.sends), "send"), (len(vi.receives), "receive")):
            if count:
                yield Wait(vi.nic.host.who, Wanted(f"the end of {count} {what}{'s' * (count > 1)} posted on {peer}"))
