"""GRIM: go-back-N between NIs, with every style of queue and both ways of sequencing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from firmware.host.grim import Grim, GrimError, open_layer
from firmware.layers import ClusterView
from firmware.nic import grim as nic_grim
from firmware.nic.grim.words import Counter
from pymodels.formats.grim import MessageType
from tb.explore.part import machine
from tb.explore.world import Promise, SmallWorld

HANDLER = 16
"""An application's first."""
STYLES = ("append", "slotted", "hybrid")
TINY = {
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
LEFT_OUT = (
    *("Ni._counts", "Driver.interrupts", "Messenger.sends", "Piece.send"),  # count
    *("GrimPlay", "Layout", "Options", "Firmware._steps", "Handlers", "Link"),  # never change, or are in the record
)
Traffic = tuple[tuple[int, int], ...]
"""Messages: from whom, to whom, in the order in which each sends its own."""


class GrimPlay:
    """Hosts that send each other numbered messages and keep what comes."""

    def __init__(self, nodes: int, traffic: Traffic, fine: bool, options: dict[str, int | str]) -> None:
        self.machine = machine(nodes, fine, sram_bytes=1 << 16, host_bytes=1 << 16)
        self.traffic = traffic
        self.got: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        """By node: sender and number of each message that its handler got."""
        self.errors: list[list[str]] = [[] for _ in range(nodes)]
        self.sent = [0] * nodes
        self.grims: list[Grim] = []
        for node in range(nodes):
            view = ClusterView(**self.machine.view(node, **{**TINY, **options}))
            self.machine.processor(node).spawn(nic_grim.main(self.machine.nic(node), view), "firmware")
            self.grims.append(open_layer(self.machine.host(node), view))
        self.machine.finish(*(grim.grim_enable() for grim in self.grims), within_us=1e18)
        for node, grim in enumerate(self.grims):
            grim.handlers.functions[HANDLER] = partial(self._handle, node)
            grim.handlers.names[HANDLER] = "numbered"

    def _handle(self, node: int, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        whole = bytes(payload) == body(source >> 24, node, number)
        self.got[node].append((source >> 24, number if whole else -1))

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """See `Play`."""
        return [partial(self._program, node) for node in range(len(self.grims))]

    async def _program(self, node: int) -> None:
        grim = self.grims[node]
        try:
            for number, (source, target) in enumerate(self.traffic):
                if source == node:
                    await grim.send(grim.get_dest_id(target), HANDLER, number, payload=body(node, target, number))
                    self.sent[node] += 1
            await grim.wait_for(lambda: False)
        except GrimError as error:
            self.errors[node].append(str(error))

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`."""
        return self.sent[node], tuple(self.got[node]), tuple(self.errors[node])

    def idle(self, node: int) -> str:
        """See `Play`."""
        layout, nic = self.grims[node].layout, self.machine.nic(node)
        front, back = nic.load_words(layout.channels, 2)
        return "" if front == back else f"NI {node} still holds messages, {front} to {back} of its queue"

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        at = self.grims[node].layout.counters
        return {"sram": [(at, at + 4 * len(Counter))]}


def body(source: int, target: int, number: int) -> bytes:
    """The payload of a message."""
    return bytes((source, target, number, 7)) * 8


def promise(traffic: Traffic) -> Promise:
    """Each message once, in the order of its sender; nothing else; no errors."""
    nodes = 1 + max(max(pair) for pair in traffic)

    def due(source: int, node: int) -> list[int]:
        return [number for number, pair in enumerate(traffic) if pair == (source, node)]

    def always(node: int, record: tuple[Any, ...]) -> str:
        _, got, errors = record
        if errors:
            return f"host {node} was told of an error: {errors[0]}"
        return next((wrong for source in range(nodes) if (wrong := differs(node, source, got, False))), "")

    def at_end(node: int, record: tuple[Any, ...]) -> str:
        return next((wrong for source in range(nodes) if (wrong := differs(node, source, record[1], True))), "")

    def differs(node: int, source: int, got: tuple[tuple[int, int], ...], whole: bool) -> str:
        came = [number for sender, number in got if sender == source]
        meant = due(source, node)
        if came == (meant if whole else meant[: len(came)]):
            return ""
        return f"host {node} got messages {came} of host {source}, {meant} were sent"

    return Promise(always, at_end)


def say(packet: bytes) -> str:
    """A packet in words."""
    w0, w1 = int.from_bytes(packet[:4], "big"), int.from_bytes(packet[4:8], "big")
    kind = MessageType(w1 >> 26).name
    return f"{kind} token {w0 >> 8 & 0xFF} sequence {w0 & 0xFF}"


def world(
    name: str, question: str, traffic: Traffic, options: dict[str, int | str], fine: bool = False, **further: Any
) -> SmallWorld:
    """A world of numbered messages."""
    nodes = 1 + max(max(pair) for pair in traffic)
    play = partial(GrimPlay, nodes, traffic, fine, options)
    return SmallWorld(name, question, play, promise(traffic), say, left_out=LEFT_OUT, **further)


def worlds() -> list[SmallWorld]:
    """All of them."""
    three, two = ((0, 1),) * 3, ((0, 1),) * 2
    lossy: dict[str, int | str] = {"timeout_us": 100}
    any_order = "once and in order, though the third finds the endpoint's queue full"
    found = [
        world(style, f"three messages, {style} queue: {any_order}", three, {"queue_style": style}) for style in STYLES
    ]
    found += [
        world("crossing", "two messages and one against them: once and in order, no deadlock", (*two, (1, 0)), {}),
        world("fine", "one message, and a turn for the end of each piece of software", ((0, 1),), {}, fine=True),
        world("early", "two messages, time-outs that go off too early", two, lossy, early=1),
    ]
    kinds = (("lost", {"lost", "damaged"}), ("doubled", {"doubled"}), ("overtaken", {"overtaken"}))
    return found + [
        world(
            name,
            f"three messages; one packet, data or answer, is {' or '.join(sorted(kind))}",
            three,
            lossy,
            faults=frozenset(kind),
            times=1,
        )
        for name, kind in kinds
    ]
