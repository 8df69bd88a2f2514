"""A cluster with GRIM enabled, as small as it can be, and what all its small worlds share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Protocol

from firmware.grim.formats import MessageType, Words
from firmware.grim.host import Grim, GrimError
from firmware.grim.nic.layout import Counter, Register
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.parts import Parts
from firmware.grim.nic.scan import Firmware
from firmware.view import ClusterView
from pymodels.machine.nic import ModelNic
from tb.explore.part import machine
from tb.studies.grim.explore.form import normalise

Given = dict[str, int | str]
"""Options of GRIM."""
TINY: Given = {
    "segment_bytes": 32,
    "host_queue_bytes": 256,
    "queue_bytes": 1024,
    "cut_through_bytes": 0,
    "multicast_trees": 0,
    "translation_static": 1,
    "translation_runtime": 1,
    "reply_bytes": 0,
    "poll_first": 0,
}
LOSSY: Given = {"timeout_us": 100}
LEFT_OUT = (
    *("Ni._counts", "Driver.interrupts", "Sending.sends", "Piece.send"),  # count
    "Verdicts.refusing",  # tells as what a message that is dropped counts
    *("GrimPlay", "Cluster", "MessageScript", "TransferScript"),  # are in the record, or change nothing
    *("Layout", "Options", "Handlers", "Link"),  # never change
)


class Cluster:
    """Hosts on which GRIM is enabled."""

    def __init__(self, nodes: int, fine: bool, options: Given, host_bytes: int = 1 << 16) -> None:
        self.machine = machine(nodes, fine, sram_bytes=1 << 16, host_bytes=host_bytes)
        self.errors: list[list[str]] = [[] for _ in range(nodes)]
        """By node: what GRIM has told its program."""
        self.grims: list[Grim] = []
        self.parts: list[Parts] = []
        """Of each NIC's firmware."""
        for node in range(nodes):
            view = ClusterView(**self.machine.view(node, **{**TINY, **options}))
            firmware = Firmware(Ni(self.machine.nic(node), view))
            self.machine.processor(node).spawn(firmware.run(), "firmware")
            self.parts.append(firmware.parts)
            self.grims.append(Grim(self.machine.host(node), view))
        self.machine.finish(*(grim.grim_enable() for grim in self.grims), within_us=1e18)


class Script(Protocol):
    """What the hosts of a cluster do, and see."""

    async def act(self, node: int) -> None:
        """What a host does, before it waits for messages."""

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`."""


class GrimPlay:
    """A cluster and what its hosts do."""

    def __init__(self, cluster: Cluster, script: Script) -> None:
        self.machine, self.grims = cluster.machine, cluster.grims
        self._cluster, self._script = cluster, script

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """See `Play`."""
        return [partial(self._program, node) for node in range(len(self.grims))]

    async def _program(self, node: int) -> None:
        try:
            await self._script.act(node)
            await self.grims[node].wait_for(lambda: False)
        except GrimError as error:
            self._cluster.errors[node].append(str(error))

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`: the errors come last."""
        return *self._script.record(node), tuple(self._cluster.errors[node])

    def idle(self, node: int) -> str:
        """See `Play`."""
        layout, nic = self.grims[node].layout, self.machine.nic(node)
        hosts = self.grims[node].options.channels
        for source in range(layout.sources):
            end = Register.BACK if source < hosts else Register.NEXT
            front, back = nic.load(layout.register(source, Register.FRONT)), nic.load(layout.register(source, end))
            if front != back:
                return f"NI {node} still holds messages, {front} to {back} of its queue {source}"
        return ""

    def normalise(self, node: int) -> None:
        """See `Play`."""
        nic = self.machine.nics[node]
        assert isinstance(nic, ModelNic)
        normalise(self._cluster.parts[node], nic, self.grims[node].layout)

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        at = self.grims[node].layout.counters
        return {"sram": [(at, at + 4 * len(Counter))]}


def say(packet: bytes) -> str:
    """A packet in words."""
    head = Words(int.from_bytes(packet[:4], "big"), int.from_bytes(packet[4:8], "big"))
    return f"{MessageType(head.type).name} token {head.token} sequence {head.sequence}"
