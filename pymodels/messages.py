"""Numbers of messages for the trace, and the places in each node's memories at which their bytes begin.

Hosts and NICs draw a number for each new message and note it where they write the message. The reader of the message
takes the number along. Numbers are in no packet and cost no simulated time.

Records of hardware that name an address take over the number noted there: a packet that starts to leave, that of its
first byte, and a DMA block, that of its first byte in SRAM. A packet that arrives is noted at its first byte. The
machine notes the number that the packet has carried along. Hardware of the RTL carries no numbers, so that the doorway
draws one for the arrival (`hdl/sim/doorway/messages.c`), which `tb.report.numbers` replaces by that of the message.

An FPGA card takes a message over at the place in its memory at which the NIC has noted it. Its results are numbered in
their order, by the doorway when one is written, and by the firmware when the NIC finds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from typing import Protocol

MOST_NODES = 4096
MOST_MESSAGES = (1 << 46) - 1
"""Largest number in a record of a NIC that runs ahead of its processor, the narrowest; a larger one is an error."""
DRAWERS = 3
"""Number of sequences of numbers per node: its host's messages, its NIC's, and packets that arrive."""
PLACE = 2
"""Bytes of a place in SRAM, as a power of two. No two messages begin in one place."""
BESIDE = 1 << 32
"""Address from which on a layer notes messages whose place in memory changes, beside those in host memory."""
CARD_PLACE = 3
"""Bytes of a place in a card's memory, as a power of two: messages begin at multiples of 8."""
CARD_PLACES = 1 << 19
"""Places of the two banks with a card's incoming queues; they follow those of the NIC's SRAM."""
FIRST_RESULT = 1 << 45
"""Number of the first result of the card of node 0; those of other nodes follow, then the second results."""
COMMANDS = 4096
"""Number of latest commands of each kind whose messages an SP adapter keeps."""


class Places(Protocol):
    """Numbers of messages by place in the SRAM of a NIC; 0 where no message begins."""

    def __getitem__(self, place: int, /) -> int:
        """Return the number at a place."""

    def __setitem__(self, place: int, number: int, /) -> None:
        """Note the number at a place."""


class Nowhere:
    """Places of a run without numbers."""

    def __getitem__(self, place: int, /) -> int:
        return 0

    def __setitem__(self, place: int, number: int, /) -> None:
        """Do nothing."""


class Messages:
    """Messages of a run.

    Each host and each NIC counts its own messages, so that a number does not depend on the order of what happens in one
    picosecond.
    """

    def __init__(
        self, nodes: int = MOST_NODES, enabled: bool = True, sram: Callable[[int], Places] | None = None
    ) -> None:
        """Prepare the numbers of a run.

        Args:
            nodes: Number of nodes.
            enabled: True if messages get numbers; otherwise all numbers are 0.
            sram: Function that returns the places of a node's SRAM; None for those of this object.
        """
        self.step = DRAWERS * nodes
        """Difference of two successive numbers of a sequence."""
        self._enabled = enabled
        self._make = sram
        self._sram: dict[int, Places] = {}
        self._memory: dict[int, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._arrived: dict[int, list[int]] = defaultdict(list)

    def numbers(self, drawer: int) -> Callable[[], int]:
        """Return a function that gives a new number; `drawer`: from 1, `DRAWERS` times the number of nodes at most."""
        return count(drawer, self.step).__next__ if self._enabled else int

    def sram(self, node: int) -> Places:
        """Return the numbers in the SRAM of a node's NIC."""
        if node not in self._sram:
            make = self._make or (lambda node: defaultdict(int))
            self._sram[node] = make(node) if self._enabled else Nowhere()
        return self._sram[node]

    def memory(self, node: int) -> Places:
        """Return the numbers in the memory of a node's host, by physical address."""
        return self._memory[node] if self._enabled else Nowhere()

    def arrives(self, node: int, message: int) -> None:
        """Count a packet that arrives at a node of the machine."""
        if self._enabled:
            self._arrived[node].append(message)

    def result(self, node: int, count: int) -> int:
        """Return the number of the `count`-th result of a node's card, from 0; 0 without numbers."""
        return FIRST_RESULT + node + MOST_NODES * count if self._enabled and self._make is not None else 0

    def arrival(self, node: int, count: int) -> int:
        """Return the number of the packet that was the `count`-th to arrive at a node, from 0; 0 if unknown."""
        if self._enabled and self._make is not None:
            return first_arrival(node) + self.step * count
        arrived = self._arrived[node]
        return arrived[count] if count < len(arrived) else 0


def card_place(sram_bytes: int, offset: int) -> int:
    """Return the place of a message in the memory of a node's FPGA card, among the places of the node.

    Args:
        sram_bytes: Bytes of the NIC's SRAM.
        offset: Byte offset of the message in the card's memory.
    """
    return (sram_bytes >> PLACE) + (offset >> CARD_PLACE)


def command_place(number: int, store: bool) -> int:
    """Return the place in an SP adapter's SRAM numbers of the message of a FETCH or STORE, by its number."""
    return 2 * (number % COMMANDS) + store + 1


def first_of_host(node: int) -> int:
    """Return the first number of a host's messages."""
    return DRAWERS * node + 1


def first_of_nic(node: int) -> int:
    """Return the first number of a NIC's messages."""
    return DRAWERS * node + 2


def first_arrival(node: int) -> int:
    """Return the first number of packets that arrive at a node."""
    return DRAWERS * node + 3


class NicMessages:
    """The verbs of a NIC for messages: `firmware.verbs.Nic`."""

    node: int
    sram_bytes: int
    places: Places
    """Numbers in SRAM by place, for firmware that notes many."""

    def note_messages(self, messages: Messages, node: int) -> None:
        """Note the messages of a node from now on."""
        self._number = messages.numbers(first_of_nic(node))
        self._messages = messages
        self._in_memory, self.places = messages.memory(node), messages.sram(node)

    def message(self) -> int:
        """Return the number of a new message."""
        return self._number()

    def put_message(self, address: int, message: int, in_host: bool = False) -> None:
        """Note that a message begins at an address of SRAM or of host memory; 0: that none does."""
        if in_host:
            self._in_memory[address] = message
        else:
            self.places[address >> PLACE] = message

    def message_at(self, address: int, in_host: bool = False) -> int:
        """Return the message that begins at an address of SRAM or of host memory, 0 if none was noted."""
        return self._in_memory[address] if in_host else self.places[address >> PLACE]

    def put_command(self, number: int, store: bool, message: int) -> None:
        """Note the message of an SP adapter's FETCH or STORE, by its number among these commands."""
        self.places[command_place(number, store)] = message

    def arrival(self, count: int) -> int:
        """Return the message of the `count`-th packet that has arrived, from 0."""
        return self._messages.arrival(self.node, count)

    def put_in_card(self, offset: int, message: int) -> None:
        """Note the message that begins at a byte offset in the memory of the node's FPGA card."""
        self.places[card_place(self.sram_bytes, offset)] = message

    def card_result(self, count: int) -> int:
        """Return the message of the `count`-th result of the node's FPGA card, from 0."""
        return self._messages.result(self.node, count)


class HostMessages:
    """The verbs of a host for messages: `firmware.verbs.Host`."""

    nic_base: int

    def note_messages(self, messages: Messages, node: int) -> None:
        """Note the messages of a node from now on."""
        self._number = messages.numbers(first_of_host(node))
        self._in_sram, self._in_memory = messages.sram(node), messages.memory(node)

    def message(self) -> int:
        """Return the number of a new message."""
        return self._number()

    def put_message(self, address: int, message: int) -> None:
        """Note that a message begins at a physical address, of host memory or of the NIC's SRAM; 0: that none does."""
        if address < self.nic_base or address >= BESIDE:
            self._in_memory[address] = message
        else:
            self._in_sram[address - self.nic_base >> PLACE] = message

    def put_packet(self, address: int, message: int) -> None:
        """Note that a packet of a message begins on the NIC before an address, with the route of up to 8 bytes."""
        place = address - self.nic_base >> PLACE
        self._in_sram[place - 2] = self._in_sram[place - 1] = message

    def message_at(self, address: int) -> int:
        """Return the message that begins at a physical address, 0 if none was noted."""
        if address < self.nic_base or address >= BESIDE:
            return self._in_memory[address]
        return self._in_sram[address - self.nic_base >> PLACE]
