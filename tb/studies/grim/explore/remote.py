"""Small worlds of remote memory: hosts that write to and read from each other's memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tb.explore.world import Promise, SmallWorld
from tb.studies.grim.explore.play import LEFT_OUT, Cluster, Given, GrimPlay, say

SEGMENT = 32
HOST_BYTES = 8 << 20
"""Host memory, with room for the region of 4 MB for pinned memory and for scattered pages."""
LOCKED = 1
"""Value of a lock before its transfer has ended; the transfer then writes UNLOCKED."""
UNLOCKED = 0
Record = tuple[Any, ...]
Flaw = Callable[[], None]


class Transfer(NamedTuple):
    """Transfer that host `by` starts, of a number of segments, to or from `peer`."""

    by: int
    peer: int
    reads: bool
    segments: int = 1
    scattered: bool = False
    """True if the target is in user-space pages, whose translation the NI requests from its driver."""

    @property
    def lands(self) -> int:
        """Node whose memory the transfer changes."""
        return self.by if self.reads else self.peer


class Places(NamedTuple):
    """Virtual addresses of a transfer: source, target, and the lock at the target's node."""

    source: int
    target: int
    lock: int


class TransferScript:
    """Hosts that transfer blocks, each with a lock."""

    def __init__(self, cluster: Cluster, transfers: tuple[Transfer, ...]) -> None:
        self.machine, self.grims, self.transfers = cluster.machine, cluster.grims, transfers
        self.begun = [0] * len(cluster.grims)
        self.places: list[Places] = []
        for number, transfer in enumerate(transfers):
            self.machine.finish(self._prepare(number, transfer), within_us=1e18)

    async def _prepare(self, number: int, transfer: Transfer) -> None:
        origin, here = (self.grims[node] for node in self._ends(transfer))
        size = SEGMENT * transfer.segments
        source = await origin.malloc_pinned(size)
        target = await (here.pin_user_memory(size) if transfer.scattered else here.malloc_pinned(size))
        lock = await here.malloc_pinned(4)
        origin.store_pinned(source, Landed(self.transfers).body(number))
        here.store_pinned(lock, bytes((0, 0, 0, LOCKED)))
        self.places.append(Places(source, target, lock))

    def _ends(self, transfer: Transfer) -> tuple[int, int]:
        return transfer.by ^ transfer.peer ^ transfer.lands, transfer.lands

    async def act(self, node: int) -> None:
        """Start the transfers of a node; see `Script`."""
        grim = self.grims[node]
        for transfer, (source, target, lock) in zip(self.transfers, self.places, strict=True):
            if transfer.by != node:
                continue
            to, size = grim.get_dest_id(transfer.peer), SEGMENT * transfer.segments
            if transfer.reads:
                await grim.fetch_memory(to, target, source, size, lock=lock)
            else:
                await grim.send_memory(to, target, source, size, lock=lock, value=UNLOCKED)
            self.begun[node] += 1

    def record(self, node: int) -> Record:
        """Return the transfers started, and bytes and lock of each transfer to this node; see `Script`."""
        grim = self.grims[node]
        landed = tuple(
            (number, self._now(grim, at.target, SEGMENT * transfer.segments), self._now(grim, at.lock, 4)[3])
            for number, (transfer, at) in enumerate(zip(self.transfers, self.places, strict=True))
            if transfer.lands == node
        )
        return self.begun[node], landed

    def _now(self, grim: Any, address: int, size: int) -> bytes:
        host = self.machine.host(grim.nodes.me)
        return b"".join(host.memory.read(*piece) for piece in grim.pinned.pieces(address, size, "record"))


class Landed:
    """Promise: every segment arrives complete and in order; when the lock is open, all have arrived; no errors."""

    def __init__(self, transfers: tuple[Transfer, ...]) -> None:
        self._transfers = transfers

    def body(self, number: int) -> bytes:
        """Return the bytes of a transfer."""
        segments = range(self._transfers[number].segments)
        return b"".join(bytes((number + 1, segment + 1, 0xA5, 0x5A)) * (SEGMENT // 4) for segment in segments)

    def always(self, node: int, record: Record) -> str:
        """Return a violation in any state; see `Promise`."""
        _, landed, errors = record
        if errors:
            return f"host {node} got an error: {errors[0]}"
        return next((wrong for one in landed if (wrong := self._differs(node, *one))), "")

    def _differs(self, node: int, number: int, now: bytes, lock: int) -> str:
        meant = self.body(number)
        beginnings = [meant[:end].ljust(len(meant), b"\0") for end in range(0, len(meant) + 1, SEGMENT)]
        if now not in beginnings:
            return f"host {node} has {now.hex(' ', 4)}, which is not a beginning of transfer {number}"
        if lock not in (LOCKED, UNLOCKED) or (lock == UNLOCKED and now != meant):
            return f"host {node}: the lock of transfer {number} is {lock}, but its data are {now.hex(' ', 4)}"
        return ""

    def at_end(self, node: int, record: Record) -> str:
        """Return a violation in a final state; see `Promise`."""
        left = [number for number, _, lock in record[1] if lock != UNLOCKED]
        return f"transfers {left} have not arrived at host {node}" if left else ""


def world(
    name: str, question: str, transfers: tuple[Transfer, ...], options: Given, flaw: Flaw | None = None, **further: Any
) -> SmallWorld:
    """Return a world of transfers; `flaw` breaks the firmware in the process that plays it."""
    landed = Landed(transfers)
    promise = Promise(landed.always, landed.at_end)
    play = partial(_play, transfers, options, flaw)
    return SmallWorld(name, question, play, promise, say, left_out=LEFT_OUT, **further)


def _play(transfers: tuple[Transfer, ...], options: Given, flaw: Flaw | None) -> GrimPlay:
    if flaw is not None:
        flaw()
    nodes = 1 + max(max(transfer.by, transfer.peer) for transfer in transfers)
    cluster = Cluster(nodes, False, options, HOST_BYTES)
    return GrimPlay(cluster, TransferScript(cluster, transfers))
