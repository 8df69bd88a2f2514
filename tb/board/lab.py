"""Lab of a study that runs on a board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import SanlabError
from pymodels.lanai.profile import Profile
from pymodels.lanai.program import Program
from tb.board.running import RunningBoard
from tb.lab.lab import Lab
from tb.plan.request import Plan
from tb.report.recorded import BOARD, Legend, legend_of

if TYPE_CHECKING:
    from tb.lab.cluster import RunningCluster


class NotOnBoardError(SanlabError):
    """Function of the lab that needs a simulator."""


class BoardLab(Lab):
    """Interface of one study in one run on a board."""

    def __init__(self, plan: Plan, board: RunningBoard) -> None:
        self._board = board
        super().__init__(plan, cast("RunningCluster", board))

    @property
    def running(self) -> Any:
        """Running cluster."""
        return self._board

    @property
    def place(self) -> str:
        """Place of the hardware in results."""
        return BOARD

    @property
    def lossy(self) -> bool:
        """False: a board injects no faults."""
        return False

    async def change_layers(self) -> None:
        """Raise NotOnBoardError: a run on a board starts its layers once."""
        cause = "the study starts other layers in the same run"
        raise NotOnBoardError("layers on a board", cause, "run it on the RTL (run.on=rtl)")

    def captured(self) -> tuple[list[Any], int]:
        """Return no packets: a board records events, not the bytes on its cables."""
        return [], 0

    def executed(self) -> Mapping[str, Profile]:
        """Return no profiles: a board does not count the instructions of its processors."""
        return {}

    def programs(self) -> Mapping[str, Program]:
        """Return the program of each NIC, by host."""
        names = self.plan.cluster.names
        return {names[nic.node]: nic.program for nic in self._board.nics if nic.program is not None}

    def legend(self) -> Legend:
        """Return the legend with the meanings of the numbers in the trace."""
        clocks = {name: self.plan.profile.integer(f"clock.{name}_ps") for name in ("nic", "link", "pci")}
        lost, executing = self._board.link.trace_lost(), range(len(self._board.nics))
        topology, kind = self.plan.cluster.topology, self.plan.profile.kind
        names, layers = self._board.paths.names, self._board.layers
        made = legend_of(topology, names, clocks, lost, kind, layers, (), executing)
        return replace(made, place=BOARD)

    def trace(self) -> NDArray[np.void]:
        """Return the trace so far in time order, shape (n,)."""
        return self._board.records()
