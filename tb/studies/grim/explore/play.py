"""Minimal cluster with GRIM enabled, shared by all small worlds."""

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
    *("Ni._counts", "Driver.interrupts", "Sending.sends"),  # counters
    "Verdicts.refusing",  # only selects the counter of a dropped message
    *("GrimPlay", "Cluster", "MessageScript", "TransferScript"),  # part of the record, or without effect
    *("Layout", "Options", "Handlers", "Link"),  # constant
)


class Cluster:
    """Hosts with GRIM enabled."""

    def __init__(self, nodes: int, fine: bool, options: Given, host_bytes: int = 1 << 16) -> None:
        self.machine = machine(nodes, fine, sram_bytes=1 << 16, host_bytes=host_bytes)
        self.errors: list[list[str]] = [[] for _ in range(nodes)]
        """Errors raised to the application, by node."""
        self.grims: list[Grim] = []
        self.parts: list[Parts] = []
        """Firmware parts, by node."""
        for node in range(nodes):
            view = ClusterView(**self.machine.view(node, **{**TINY, **options}))
            firmware = Firmware(Ni(self.machine.nic(node), view))
            self.machine.processor(node).spawn(firmware.run(), "firmware")
            self.parts.append(firmware.parts)
            self.grims.append(Grim(self.machine.host(node), view))
        self.machine.finish(*(grim.grim_enable() for grim in self.grims), within_us=1e18)


class Script(Protocol):
    """Actions and observations of a cluster's hosts."""

    async def act(self, node: int) -> None:
        """Execute the actions of a host, before it waits for messages."""

    def record(self, node: int) -> tuple[Any, ...]:
        """Return the observations of a host; see `Play`."""


class GrimPlay:
    """Cluster and the script of its hosts."""

    def __init__(self, cluster: Cluster, script: Script) -> None:
        self.machine, self.grims = cluster.machine, cluster.grims
        self._cluster, self._script = cluster, script

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """Return the host programs; see `Play`."""
        return [partial(self._program, node) for node in range(len(self.grims))]

    async def _program(self, node: int) -> None:
        try:
            await self._script.act(node)
            await self.grims[node].wait_for(lambda: False)
        except GrimError as error:
            self._cluster.errors[node].append(str(error))

    def record(self, node: int) -> tuple[Any, ...]:
        """Return the observations of a node, the errors last; see `Play`."""
        return *self._script.record(node), tuple(self._cluster.errors[node])

    def idle(self, node: int) -> str:
        """Return a description of messages that a NI still holds; see `Play`."""
        layout, nic = self.grims[node].layout, self.machine.nic(node)
        hosts = self.grims[node].options.channels
        for source in range(layout.sources):
            end = Register.BACK if source < hosts else Register.NEXT
            front, back = nic.load(layout.register(source, Register.FRONT)), nic.load(layout.register(source, end))
            if front != back:
                return f"NI {node} still holds messages, {front} to {back} of its queue {source}"
        return ""

    def normalise(self, node: int) -> None:
        """Normalise the state of a NIC; see `Play`."""
        nic = self.machine.nics[node]
        assert isinstance(nic, ModelNic)
        normalise(self._cluster.parts[node], nic, self.grims[node].layout)

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """Return the memory areas that do not affect behaviour: the counters; see `Play`."""
        at = self.grims[node].layout.counters
        return {"sram": [(at, at + 4 * len(Counter))]}


def say(packet: bytes) -> str:
    """Return a description of a packet."""
    head = Words(int.from_bytes(packet[:4], "big"), int.from_bytes(packet[4:8], "big"))
    return f"{MessageType(head.type).name} token {head.token} sequence {head.sequence}"
