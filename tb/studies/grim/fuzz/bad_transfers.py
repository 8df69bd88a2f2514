"""Invalid transfers of a node: wrong addresses, sizes and locks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from firmware.grim.host.memory import REGIONS_VA
from firmware.grim.nic.remote_memory.entries import GRANULE, REGION
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.memory import Effect, nothing
from tb.studies.grim.fuzz.node import RARELY, Node
from tb.studies.grim.fuzz.transfers import Transfers

NOWHERE = 0x7000_0000
"""Virtual address outside all allocations."""
FREE = REGIONS_VA + REGION - GRANULE
"""Virtual address in an unallocated part of a contiguous region; blocks are allocated from its start."""
WRONG_LOCKS = {"lock": NOWHERE, "free lock": FREE}
BAD_WRITES, MORE_BAD_WRITES = 8, 300


class BadTransfers:
    """Actions of a node whose transfers fail."""

    def __init__(self, node: Node, transfers: Transfers) -> None:
        self.node, self._transfers = node, transfers
        self.cluster, self.index = node.cluster, node.index
        self.mail, self.memory, self.ledger = node.mail, node.memory, node.ledger

    def _bad_target(self, act: Act, node: int) -> tuple[int, int, str]:
        """Return an invalid target: virtual address, bytes, and name of the invalid argument."""
        block = self._transfers.block_at(node, act, "store", "landing")
        size = max(act.whole("bytes") & ~3, 4)
        fault = act.values["fault"]
        gone = [one for one in self.memory.blocks if one.node == node and one.freed < 1 << 62]
        if fault == "freed" and gone:
            va = gone[act.whole("block") % len(gone)].va
            if all(not one.va <= va < one.va + one.size for one in self.memory.blocks_of(node)):
                return va, 4, "address"
        if fault == "free":
            return FREE, min(size, GRANULE), "address"
        if fault == "beyond":
            unit = GRANULE if block.contiguous else 4
            return block.va, -(-block.size // unit) * unit + size, "number of bytes"
        return NOWHERE + block.va % 4096, size, "address"

    async def do_bad_write(self, act: Act) -> None:
        """Write to an invalid target or with an invalid lock: no byte, no lock, and one error are expected."""
        node, to, _ = self._transfers.where_to(act)
        if act.values["fault"] in WRONG_LOCKS:
            block = self._transfers.block_at(node, act, "store", "landing")
            va, size, argument = block.va, min(64, block.size & ~3), "lock"
            where = WRONG_LOCKS[str(act.values["fault"])]
        else:
            va, size, argument = self._bad_target(act, node)
            lock = self._transfers.new_lock(node, 1 + len(self.memory.locks))
            lock.never, where = True, lock.va
        call = partial(
            self.node.library.send_memory,
            to,
            va,
            self.node.ink.va,
            size,
            lock=where,
            value=1,
            channel=self.node.channel(act),
        )
        await self._bad(act, (va, size), call, "lock" if argument == "lock" else "target", argument)

    async def do_bad_writes(self, act: Act) -> None:
        """Write back to back to an invalid address; each write is an error."""
        node, to, _ = self._transfers.where_to(act)
        count = MORE_BAD_WRITES if act.whole("rare") == RARELY else BAD_WRITES
        if node == self.index:
            return
        channel, ink, library = self.node.channel(act), self.node.ink.va, self.node.library
        self.ledger.owe(str(act), "address", f"VNN {node}", least=count * self.node.sure(node), most=count)
        for number in range(count):
            await self.node.call(
                str(act), partial(library.send_memory, to, NOWHERE + 4 * number, ink, 4, channel=channel)
            )

    async def do_bad_read(self, act: Act) -> None:
        """Read from an invalid source."""
        node, to, _ = self._transfers.where_to(act)
        landing = self._transfers.block_at(self.index, act, "landing")
        va, size, argument = self._bad_target(act, node)
        if size > landing.size:
            return
        lock = self._transfers.new_lock(self.index, 0)
        lock.never = True
        call = partial(
            self.node.library.fetch_memory, to, landing.va, va, size, lock=lock.va, channel=self.node.channel(act)
        )
        await self._bad(act, (va, size), call, "source", argument)

    async def _bad(self, act: Act, there: tuple[int, int], call: Callable[[], Any], here: str, wrong: str) -> None:
        """Make a transfer that fails.

        If a block at the range is freed meanwhile, the error may also be about the address.

        Args:
            act: Action of the transfer.
            there: Address and bytes on the other node.
            call: Call of the library.
            here: Argument that is rejected if the other node is this one.
            wrong: Argument that the other node reports.
        """
        node, _, order = self._transfers.where_to(act)
        if node == self.index:
            await self.node.call(str(act), call, refused=here)
            return
        due = self.ledger.owe(str(act), wrong, f"VNN {node}", least=self.node.sure(node))
        life, begun = self.cluster.lives[node], self.mail.event()
        self.memory.effects.append(Effect(str(act), node, *there, order, begun, nothing, False, due, life=life))
        await self.node.call(str(act), call)
