"""The bench around `sp_switch`: that of the crossbar with SP packets, and an eye on the central queue."""

from __future__ import annotations

from typing import Any

from pymodels.formats.sp import SpPacket
from pymodels.link.packet import route_byte
from pymodels.switch.crossbar import Crossbar
from pymodels.switch.sp_switch import SpSwitch
from tests.block.switch_bench import Bench

CHUNK = 8
"""Bytes of a chunk of the central queue."""


class SpBench(Bench):
    """Packets carry the port at which they come in as their source, and in the last byte of their key."""

    def __init__(self, dut: Any, sleeping: bool = False, present: int = -1, **settings: int) -> None:
        unlike_myrinet = {"cfg_long_timeout": 0, "cfg_beat_period": 0, "cfg_central_chunks": 4096 // CHUNK}
        super().__init__(dut, sleeping, present, **{**unlike_myrinet, **settings})
        self.limit = int(settings.get("cfg_central_chunks", unlike_myrinet["cfg_central_chunks"]))
        self.peak = 0
        """Most chunks seen in the central queue."""
        self.grid.samplers.append(self._watch_queue)

    def _watch_queue(self, now: int) -> None:
        held = int(self.dut.st_chunks.value)
        self.peak = max(self.peak, held)
        assert held <= self.limit, f"{held} chunks in a central queue of {self.limit} at {now}"

    def gated(self) -> bool:
        """The chip has one clock."""
        return False

    def reference(self, present: frozenset[int]) -> Crossbar:
        """The functional model of this switch."""
        return SpSwitch(self.ports, present)

    def source_of(self, wire: bytes) -> int:
        """The source in the header."""
        return wire[9]

    def wire(self, source: int, output: int, size: int) -> bytes:
        """A packet as it comes in."""
        return self.sp_packet(source, output, size).to_wire()

    def sp_packet(self, source: int, output: int, size: int, *further: int) -> SpPacket:
        """A packet with `size` bytes of user data; `further`: ports' distances in the switches behind this one."""
        route = bytes(map(route_byte, (output - source, *further)))
        key = self.rng.getrandbits(24) << 8 | source
        via = (key, self.rng.getrandbits(32))
        return SpPacket(route, source, output, via, self.rng.randbytes(size))

    async def settle(self, limit: int = 60_000) -> None:
        """As the crossbar's, and nothing stays in the central queue."""
        await super().settle(limit)
        assert int(self.dut.st_chunks.value) == 0, "chunks are left in the central queue"
