"""Hosts and NICs on a board: what a study's lab works with instead of a simulation, and a program without a study."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.board.map import NodeStatus
from pymodels.lanai.program import Program
from pymodels.machine.log import TraceLog
from pymodels.messages import Messages
from pymodels.profiles import Profile
from pymodels.trace import RECORD, in_time_order
from tb.bind.actor import PathNumbers
from tb.bind.circuits import CardCircuits
from tb.bind.io_card import RtlIoProcessor
from tb.board.clear import clear_sram
from tb.board.engine import BoardEngine, interrupted
from tb.board.host import BoardHost
from tb.board.link import BoardLink, NodeState
from tb.board.nic import BoardNic
from tb.board.watches import Watches
from tb.tools.watchdog import Watchdog

HANG_US, TURN_S, LIMIT_S = 100_000, 30.0, 600.0
"""Limits of `RunningBoard.run`: us of the board's time, CPU seconds of Python, and wall-clock seconds."""
STICKY = {
    NodeStatus.DMA_ERROR: "host DMA ended by an error",
    NodeStatus.RX_LOST: "packet dropped at a NIC in reset or by the network time-out",
    NodeStatus.SEND_MISUSE: "send limit written while the engine was not ready",
    NodeStatus.PIO_MISUSE: "programmed I/O to an unused address of the card",
    NodeStatus.PIO_ERROR: "programmed I/O ended by an abort",
    NodeStatus.MEMORY_BEYOND: "host DMA beyond the host memory of the board",
}
"""Status bits of a node that break an invariant."""


class BoardInvariants:
    """Settings of the invariants that studies and layers change; a board checks what its status registers show."""

    def __init__(self) -> None:
        self.faults_expected = False


class RunningBoard:
    """Hosts and NICs on a connected board. The SRAM of NICs with processors is cleared.

    Args:
        link: The board, after `BoardLink.start`.
        profile: Hardware profile of the NICs.
        names: Names of the hosts, by node; at most as many as the board has nodes.
        trace: True to record events.
    """

    def __init__(self, link: BoardLink, profile: Profile, names: Sequence[str], trace: bool = True) -> None:
        self.link, self.kernel = link, link.kernel
        kernel = link.kernel
        self.log = TraceLog(kernel, trace)
        self.paths = PathNumbers()
        self.layers: tuple[str, ...] = ()
        """Message layers that run, lowest first."""
        self.composed: dict[str, tuple[str, ...]] = {}
        self.invariants = BoardInvariants()
        self.io_cards: Mapping[int, RtlIoProcessor] = {}
        """Processors of I/O cards by node: none, because boards have no I/O card."""
        self.circuits: Mapping[int, CardCircuits] = {}
        """Circuits in Python by node: none, because the circuits of a board are in its bitstream."""
        watches, card, messages = Watches(link, kernel), profile.card, Messages()
        width = profile.integer("sram.width") // 8
        self.nics = [BoardNic(node, profile.kind, width, link, card) for node in range(len(names))]
        self.hosts = [
            BoardHost(node, name, kernel, link, watches, self.log, card, messages) for node, name in enumerate(names)
        ]
        self.engine = BoardEngine(link, watches, kernel, self._look)
        if link.identity.core:
            clear_sram(link, card, range(len(names)))

    def run(self, coroutine: Coroutine[Any, Any, Any], hang_us: int = HANG_US, limit_s: float = LIMIT_S) -> Any:
        """Run a program on the board's time until it ends, and return its value.

        Args:
            coroutine: The program, which uses the verbs of `hosts`.
            hang_us: Time of the board without an event after which the program counts as hung, us.
            limit_s: Wall-clock seconds after which the program is ended, 0 for no limit.

        Raises:
            HangError: The board is silent; the message lists what is waited for.
            RunLimitError: The time is over; the message lists what is waited for.
        """
        with self.watched(TURN_S, limit_s):
            return self.engine.run(self.kernel.spawn(coroutine, "program"), hang_us * 1_000_000)

    @contextmanager
    def watched(self, turn_s: float, limit_s: float, note: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Limit the wall time of a run of the main thread.

        Args:
            turn_s: CPU seconds of Python without time of the board and without an answer of it.
            limit_s: Seconds of the whole run, 0 for no limit.
            note: Function that notes the state of the run, in another thread (`tb.tools.watchdog`).
        """
        cost, kernel, bridge = self.engine.cost, self.kernel, self.link.bridge
        watchdog = Watchdog(
            turn_s, limit_s, lambda: (cost.python_wakes, kernel.now, bridge.trips), kernel.waiting, note
        )
        watchdog.start()
        try:
            yield
        finally:
            watchdog.stop()

    def use_layer(self, *layers: str, composed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """Note the message layers that start; their paths charge nothing on a board."""
        self.layers = tuple(dict.fromkeys((*self.layers, *layers)))
        self.composed.update(composed or {})

    def execute(self, node: int, program: Program) -> None:
        """Note the program that a host loads into its NIC."""
        self.nics[node].program = program

    def records(self) -> NDArray[np.void]:
        """Return the records of board and PC so far, in time order."""
        both = np.concatenate([self.link.trace(), np.array(self.log.array(), RECORD)])
        return in_time_order(both)

    def broken_invariants(self) -> list[str]:
        """Return what the status registers of the board say went wrong. Raises HaltedError for a halted processor."""
        found = []
        for nic in self.nics:
            state = self.link.state(nic.node)
            nic.check(state)
            bits = [one for one in STICKY if state.status >> one & 1]
            if self.invariants.faults_expected and NodeStatus.RX_LOST in bits:
                bits.remove(NodeStatus.RX_LOST)
            found += [f"node {nic.node}: {STICKY[one]}" for one in bits]
        if errors := self.link.bus_errors():
            found.append(f"{errors} accesses of the PC were not answered on the board")
        return found

    def _look(self, states: list[NodeState]) -> None:
        """Serve the interrupt lines, and raise HaltedError for a halted processor."""
        for host, nic in zip(self.hosts, self.nics, strict=True):
            state = states[nic.node]
            nic.check(state)
            host.interrupt(interrupted(state))
