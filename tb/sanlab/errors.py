"""Exceptions of the library. Their texts are those of the command line: subject, cause, remedy."""

from __future__ import annotations


class SanlabError(Exception):
    """Base class of the library's errors.

    Attributes:
        exit_code: Exit code of the command.
        folder: Folder with the files of a failed run; empty if it left none.
    """

    def __init__(self, text: str, exit_code: int = 1, folder: str = "") -> None:
        super().__init__(text, exit_code, folder)  # all three, so that it can be pickled
        self.exit_code = exit_code
        self.folder = folder

    def __str__(self) -> str:
        return str(self.args[0])


class RefusedError(SanlabError):
    """Invalid input, such as an unknown study or a value out of range; nothing was run."""


class FailedError(SanlabError):
    """Failed study, invariant or simulation. `sanlab.load(error.folder)` reads the files of the run."""
