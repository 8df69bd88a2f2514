"""Running cluster on a board: what a study's lab works with instead of a simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pymodels.board.map import NodeStatus
from pymodels.kernel import Kernel
from pymodels.lanai.program import Program
from pymodels.machine.log import TraceLog
from pymodels.messages import Messages
from pymodels.trace import RECORD, in_time_order
from tb.bind.actor import PathNumbers
from tb.board.clear import clear_sram
from tb.board.engine import BoardEngine, interrupted
from tb.board.host import BoardHost
from tb.board.link import BoardLink, NodeState
from tb.board.nic import BoardNic
from tb.board.watches import Watches
from tb.plan.request import Plan

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
    """Cluster of a plan on a connected board.

    Args:
        plan: Plan of the run.
        link: The board, after `BoardLink.start`.
        kernel: Event loop of the run.
    """

    def __init__(self, plan: Plan, link: BoardLink, kernel: Kernel) -> None:
        self.plan, self.link, self.kernel = plan, link, kernel
        self.log = TraceLog(kernel, bool(plan.options["run.trace"]))
        self.paths = PathNumbers()
        self.layers: tuple[str, ...] = ()
        """Message layers that run, lowest first."""
        self.composed: dict[str, tuple[str, ...]] = {}
        self.invariants = BoardInvariants()
        watches, card, messages = Watches(link, kernel), plan.profile.card, Messages()
        names = plan.cluster.names
        width = plan.profile.integer("sram.width") // 8
        self.nics = [BoardNic(node, plan.profile.kind, width, link, card) for node in range(len(names))]
        self.hosts = [
            BoardHost(node, name, kernel, link, watches, self.log, card, messages) for node, name in enumerate(names)
        ]
        self.engine = BoardEngine(link, watches, kernel, self._look)
        clear_sram(link, card, range(len(names)))

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
