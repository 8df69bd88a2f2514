"""Capture of the packets of a run of GRIM's firmware on the machine, for replay through the reference models."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeVar

from firmware.grim import formats as grim
from pymodels.machine.network import Flight
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_replay import LossyReplay, Name, Replay, is_message, without_route
from tests.unit.grim.model import Stream

Run = TypeVar("Run", bound=Replay)


class Tap:
    """Capture of packets as they leave; `replay` compares them and the trace with one model for each stream."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.streams: dict[Name, Stream] = {}
        self.rolled_back: set[Name] = set()
        self._packets: dict[int, list[bytes]] = defaultdict(list)
        carry = bench.machine.network.carry
        parts: dict[Flight, bytearray] = {}

        def tapped(flight: Flight, data: bytes, tail: bool) -> None:
            parts.setdefault(flight, bytearray()).extend(data)
            if tail:
                packet = without_route(bytes(parts.pop(flight)))
                if is_message(packet):
                    self._packets[flight.source].append(packet)
            carry(flight, data, tail)

        bench.machine.network.carry = tapped  # type: ignore[method-assign]

    def replay(self) -> None:
        """Replay through the model without losses. Raises ProtocolError at the first deviation."""
        replay = self._replay(Replay)
        self.streams, self.rolled_back = replay.streams, replay.rolled_back

    def replay_lossy(self) -> LossyReplay:
        """Replay through the model of a network that loses packets. Raises ProtocolError at the first deviation."""
        return self._replay(LossyReplay)

    def _replay(self, kind: type[Run]) -> Run:
        options = self.bench.libraries[0].options
        per_ni = options.sequencing == "per-ni"
        tokens = grim.TOKENS if per_ni else grim.TOKENS // options.channels
        lane = self.bench.libraries[0].layout.lane if per_ni else None
        replay = kind(self._packets, min(options.window, tokens), lane)
        replay.run(record[1:5] for record in self.bench.machine.trace.records)
        return replay
