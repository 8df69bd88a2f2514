"""Numbers of messages for the trace, and the places in each node's memories at which their bytes begin.

Hosts and NICs draw a number for each new message and note it where they write the message. The reader of the message
takes the number along. Numbers are in no packet and cost no simulated time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count

MOST_NODES = 4096


class Messages:
    """Messages of a run.

    Each host and each NIC counts its own messages, so that a number does not depend on the order of what happens in one
    picosecond.
    """

    def __init__(self, nodes: int = MOST_NODES, enabled: bool = True) -> None:
        """`enabled`: messages get numbers; otherwise all numbers are 0."""
        self._step = 2 * nodes
        self._enabled = enabled
        self.sram: dict[int, dict[int, int]] = defaultdict(dict)
        """Messages in the SRAM of each node's NIC, by address."""
        self.memory: dict[int, dict[int, int]] = defaultdict(dict)
        """Messages in the memory of each node's host, by physical address."""

    def numbers(self, drawer: int) -> Callable[[], int]:
        """Return a function that gives a new number; `drawer`: from 1, twice the number of nodes at most."""
        return count(drawer, self._step).__next__ if self._enabled else int


class NicMessages:
    """The verbs of a NIC for messages: `firmware.verbs.Nic`."""

    def note_messages(self, messages: Messages, node: int) -> None:
        """Note the messages of a node from now on."""
        self._number = messages.numbers(2 * node + 2)
        self._in_sram, self._in_memory = messages.sram[node], messages.memory[node]

    def message(self) -> int:
        """Return the number of a new message."""
        return self._number()

    def put_message(self, address: int, message: int) -> None:
        """Note that a message begins at an address of SRAM."""
        if message:
            self._in_sram[address] = message

    def message_at(self, address: int, in_host: bool = False) -> int:
        """Return the message that begins at an address of SRAM or of host memory, 0 if none was noted."""
        return (self._in_memory if in_host else self._in_sram).get(address, 0)


class HostMessages:
    """The verbs of a host for messages: `firmware.verbs.Host`."""

    nic_base: int

    def note_messages(self, messages: Messages, node: int) -> None:
        """Note the messages of a node from now on."""
        self._number = messages.numbers(2 * node + 1)
        self._in_sram, self._in_memory = messages.sram[node], messages.memory[node]

    def message(self) -> int:
        """Return the number of a new message."""
        return self._number()

    def put_message(self, address: int, message: int) -> None:
        """Note that a message begins at a physical address, of host memory or of the NIC's SRAM."""
        if not message:
            return
        if address < self.nic_base:
            self._in_memory[address] = message
        else:
            self._in_sram[address - self.nic_base] = message
