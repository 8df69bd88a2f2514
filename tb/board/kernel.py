"""Event loop of a run on a board, whose report of waits does not disturb the line to the board."""

from __future__ import annotations

import threading

from pymodels.kernel import Kernel


class BoardKernel(Kernel):
    """Event loop of the thread that creates it, the only thread that may access the board."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def waiting(self) -> list[str]:
        """Return one line for each suspended task and, in the thread of the loop, for each declared wait.

        Software computes some declared waits from memory of the board.
        """
        if threading.get_ident() == self._thread:
            return super().waiting()
        return [str(wait) for wait in self._suspended()]
