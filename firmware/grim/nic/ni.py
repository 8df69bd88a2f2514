"""State that all parts of the NI firmware share: the machine, the memory map, the routes, the counters."""

from __future__ import annotations

from firmware.grim.formats import Device, endpoint
from firmware.grim.nic.cards import card_base, card_channel
from firmware.grim.nic.layout import ROUTE_BYTES, Counter, State, Word
from firmware.grim.nic.size_requests import resolve_options
from firmware.options import OptionError
from firmware.verbs import Nic
from firmware.view import ClusterView


class Ni:
    """Network interface card of one node.

    The firmware's private variables are Python objects. All words that the host or the hardware reads are in SRAM.
    """

    def __init__(self, nic: Nic, view: ClusterView) -> None:
        self.nic = nic
        self.me = view.me
        self.endpoint = endpoint(self.me, Device.HOST)
        """Endpoint of this NI's host, as used in headers."""
        self.nodes = len(view.names)
        self.names = view.names
        """Host names, by VNN."""
        self.options, self.layout = resolve_options(view, nic.sram_bytes)
        self.lossy = self.options.timeout_us > 0
        """True if the time-out extension is enabled."""
        self.to_itself = view.me in view.routes
        """True if the node has an FPGA card, so that messages to this node go over the switch."""
        self.card_channel = card_channel(self.options, view)
        self.card_base = card_base(view)
        """PCI address of the endpoint card, if the node has one."""
        self.peers = tuple(vnn for vnn in range(self.nodes) if vnn != self.me)
        self.routes = [self._route(view, vnn) for vnn in range(self.nodes)]
        """Two words of the right-aligned route, and the number of leading bytes that the send engine skips, by VNN."""
        self.tags = [0] * self.nodes
        """Connection tag (`TAG`) of packets to and from each VNN; NONE without a connection, 0 without time-outs."""
        self.down: set[int] = set()
        """NIs that do not respond. Empty without time-outs."""
        self.tries = [0] * self.nodes
        """Time-outs since the last packet from each VNN."""
        self._counts = [0] * len(Counter)

    def _route(self, view: ClusterView, vnn: int) -> tuple[int, int, int]:
        if vnn == self.me and vnn not in view.routes:
            return 0, 0, ROUTE_BYTES
        route = view.routes.get(vnn, b"")
        if not 1 <= len(route) <= ROUTE_BYTES:
            raise OptionError(
                f"route {view.names[self.me]} -> {view.names[vnn]}",
                f"invalid length of {len(route)} bytes",
                f"give 1 to {ROUTE_BYTES}",
            )
        words = route.rjust(ROUTE_BYTES, b"\0")
        self.nic.store_words(
            self.layout.routes + 16 * vnn, (int.from_bytes(words[:4], "big"), int.from_bytes(words[4:], "big"))
        )
        return int.from_bytes(words[:4], "big"), int.from_bytes(words[4:], "big"), ROUTE_BYTES - len(route)

    def count(self, counter: Counter, by: int = 1) -> None:
        """Increment a counter (32 bits, wrapping) and its copy in SRAM, which the host can read."""
        self._counts[counter] = value = self._counts[counter] + by & 0xFFFFFFFF
        self.nic.store(self.layout.counters + 4 * counter, value)

    def set_state(self, state: State) -> None:
        """Publish the firmware's state in SRAM."""
        self.nic.store(Word.STATE, state)
