"""Programs on a board without a study, such as one for a board that holds a single node or an FPGA card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from firmware.images import cores, load
from firmware.layers import boot_words
from firmware.view import ClusterView, MachineCode
from pymodels.profiles import load_profile
from tb.board.found import connected, manifest_of, reported
from tb.board.kernel import BoardKernel
from tb.board.link import BoardLink
from tb.board.running import RunningBoard
from tb.plan.on_board import with_board

PATIENCE_S = 10.0
"""Default of `running_board`: seconds without an answer of the board after which it counts as lost."""


@contextmanager
def running_board(port: str, patience_s: float = PATIENCE_S, folder: str = "") -> Iterator[RunningBoard]:
    """Yield the hosts of the board behind a port, named node0, node1, ...; the nodes are reset before and after.

    Args:
        port: Port of the board, as `run.port` names it.
        patience_s: Seconds without an answer of the board after which it counts as lost.
        folder: Folder of the bitstream's `board.json`; empty to find it by what the board reports.

    Raises:
        PortError: The port cannot be opened.
        WrongBoardError: The board holds an unknown bitstream.
        LineError: The line has failed, whatever error of the program was its first symptom.
        BoardResetError: The board was reset.
    """
    with connected(port, patience_s) as (bridge, identity):
        made = manifest_of(identity, folder)
        profile = with_board(load_profile(made.profile), reported(identity, made))
        link = BoardLink(bridge, identity, BoardKernel())
        try:
            with link.raising_causes():
                link.start(trace=True)
                yield RunningBoard(link, profile, [f"node{node}" for node in range(identity.nodes)])
                link.finish()
        finally:
            link.abandon()


def with_firmware(view: ClusterView, layer: str, kind: str) -> ClusterView:
    """Return the view of a node whose host loads the C firmware of a layer.

    Args:
        view: Names and routes of the nodes.
        layer: Name of the message layer.
        kind: Kind of the NICs, as `RunningBoard.nics` has it.
    """
    program, words = load(layer, kind), boot_words(layer, view, cores()[kind].word_bytes)
    return replace(view, machine_code=MachineCode(program, words))
