"""What a caller of the library catches. The text is that of the command line: what is wrong, its cause, the remedy."""

from __future__ import annotations


class SanlabError(Exception):
    """Base of all errors of the library. `exit_code` is that of the command, `folder` where a run left what it had."""

    def __init__(self, text: str, exit_code: int = 1, folder: str = "") -> None:
        super().__init__(text, exit_code, folder)  # all three, so that it can be pickled
        self.exit_code = exit_code
        self.folder = folder

    def __str__(self) -> str:
        return str(self.args[0])


class RefusedError(SanlabError):
    """The input was refused before anything was built: an unknown study, a value out of range."""


class FailedError(SanlabError):
    """The study, an invariant or the simulation failed. `sanlab.load(error.folder)` reads what the run left."""
