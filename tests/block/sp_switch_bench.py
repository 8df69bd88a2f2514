"""Bench around `sp_switch`: the crossbar's bench with SP packets, and a monitor of the central queue."""

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
    """Bench whose packets carry their input port as their source, and in the last byte of their key."""

    def __init__(self, dut: Any, sleeping: bool = False, present: int = -1, **settings: int) -> None:
        unlike_myrinet = {"cfg_long_timeout": 0, "cfg_beat_period": 0, "cfg_central_chunks": 4096 // CHUNK}
        super().__init__(dut, sleeping, present, **{**unlike_myrinet, **settings})
        self.limit = int(settings.get("cfg_central_chunks", unlike_myrinet["cfg_central_chunks"]))
        self.peak = 0
        """Maximum number of chunks in the central queue."""
        self.grid.samplers.append(self._watch_queue)

    def _watch_queue(self, now: int) -> None:
        held = int(self.dut.st_chunks.value)
        self.peak = max(self.peak, held)
        assert held <= self.limit, f"{held} chunks in a central queue of {self.limit} at {now}"

    def gated(self) -> bool:
        """Return False: the chip has one clock."""
        return False

    def reference(self, present: frozenset[int]) -> Crossbar:
        """Return the functional model of this switch."""
        return SpSwitch(self.ports, present)

    def source_of(self, wire: bytes) -> int:
        """Return the source in the header."""
        return wire[9]

    def wire(self, source: int, output: int, size: int) -> bytes:
        """Return a packet as it arrives."""
        return self.sp_packet(source, output, size).to_wire()

    def sp_packet(self, source: int, output: int, size: int, *further: int) -> SpPacket:
        """Return a packet with `size` bytes of user data; `further`: port distances in the following switches."""
        route = bytes(map(route_byte, (output - source, *further)))
        key = self.rng.getrandbits(24) << 8 | source
        via = (key, self.rng.getrandbits(32))
        return SpPacket(route, source, output, via, self.rng.randbytes(size))

    async def settle(self, limit: int = 60_000) -> None:
        """Wait as for the crossbar, and check that the central queue is empty."""
        await super().settle(limit)
        assert int(self.dut.st_chunks.value) == 0, "chunks are left in the central queue"
