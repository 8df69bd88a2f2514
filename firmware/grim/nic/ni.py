"""What all parts of the NI firmware share: the machine, the map of its memory, the routes, the counters."""

from __future__ import annotations

from firmware.grim.formats import Device, endpoint
from firmware.grim.nic.asked import planned
from firmware.grim.nic.cards import card_channel
from firmware.grim.nic.layout import ROUTE_BYTES, Counter, State, Word
from firmware.options import OptionError
from firmware.verbs import Nic
from firmware.view import ClusterView


class Ni:
    """One network interface. Private variables of the firmware are Python's; what host or hardware see stands in
    SRAM.
    """

    def __init__(self, nic: Nic, view: ClusterView) -> None:
        self.nic = nic
        self.me = view.me
        self.endpoint = endpoint(self.me, Device.HOST)
        """That of this NI's host, as headers name it."""
        self.nodes = len(view.names)
        self.names = view.names
        """Of the hosts, by VNN."""
        self.options, self.layout = planned(view, nic.sram_bytes)
        self.lossy = self.options.timeout_us > 0
        """The time-out extension is on."""
        self.to_itself = view.me in view.routes
        """Messages to this node itself go over the switch: it has a card that takes them."""
        self.card_channel = card_channel(self.options, view)
        self.peers = tuple(vnn for vnn in range(self.nodes) if vnn != self.me)
        self.routes = [self._route(view, vnn) for vnn in range(self.nodes)]
        """By VNN: the two words of the route, right-aligned, and how many bytes before it the send engine skips."""
        self.tags = [0] * self.nodes
        """By VNN: what stands in packets to and from it (`TAG`); NONE while there is no connection. 0 without
        time-outs."""
        self.down: set[int] = set()
        """NIs that give no sign of life. None without time-outs."""
        self.tries = [0] * self.nodes
        """By VNN: time-outs since a packet of it came."""
        self._counts = [0] * len(Counter)

    def _route(self, view: ClusterView, vnn: int) -> tuple[int, int, int]:
        if vnn == self.me and vnn not in view.routes:
            return 0, 0, ROUTE_BYTES
        route = view.routes.get(vnn, b"")
        if not 1 <= len(route) <= ROUTE_BYTES:
            raise OptionError(
                f"route {view.names[self.me]} -> {view.names[vnn]}", f"{len(route)} bytes", f"give 1 to {ROUTE_BYTES}"
            )
        words = route.rjust(ROUTE_BYTES, b"\0")
        self.nic.store_words(
            self.layout.routes + 16 * vnn, (int.from_bytes(words[:4], "big"), int.from_bytes(words[4:], "big"))
        )
        return int.from_bytes(words[:4], "big"), int.from_bytes(words[4:], "big"), ROUTE_BYTES - len(route)

    def count(self, counter: Counter, by: int = 1) -> None:
        """Count something, where the host can read it. 32-bit counters, wrapping."""
        self._counts[counter] = value = self._counts[counter] + by & 0xFFFFFFFF
        self.nic.store(self.layout.counters + 4 * counter, value)

    def set_state(self, state: State) -> None:
        """Publish the firmware's state in SRAM."""
        self.nic.store(Word.STATE, state)
