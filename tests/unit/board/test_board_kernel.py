"""Event loop of boards: declared waits, which software may read from the board, are computed in one thread only.

Strategy: a declared wait counts its computations; the report is requested in the thread of the loop and in another.
"""

from __future__ import annotations

import threading

from pymodels.waiting import Wait, Wanted
from tb.board.kernel import BoardKernel


def test_declared_waits_are_computed_in_the_thread_of_the_loop_only() -> None:
    kernel, computed, elsewhere = BoardKernel(), list[Wait](), list[list[str]]()

    def declared() -> list[Wait]:
        computed.append(Wait("host 0", Wanted("a message")))
        return computed[-1:]

    kernel.waits.register(declared)
    thread = threading.Thread(target=lambda: elsewhere.append(kernel.waiting()))
    thread.start()
    thread.join()
    assert (elsewhere, computed) == ([[]], [])
    assert kernel.waiting() == ["host 0 waits for a message"]
