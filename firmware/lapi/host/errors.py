"""Errors of LAPI."""

from __future__ import annotations

from pymodels.errors import SanlabError


class Misuse(Exception):  # noqa: N818 - it never leaves the library
    """Invalid argument, raised where the name of the call is not known; becomes a LapiError."""

    def __init__(self, argument: str, cause: str, remedy: str) -> None:
        super().__init__(argument, cause, remedy)
        self.argument, self.cause, self.remedy = argument, cause, remedy


class LapiError(SanlabError):
    """Invalid call: task, call by its name in the manual, and argument."""

    def __init__(self, task: int, call: str, argument: str, cause: str, remedy: str) -> None:
        super().__init__(", ".join(part for part in (f"task {task}", call, argument) if part), cause, remedy)
        self.args = (task, call, argument, cause, remedy)
        self.task, self.call, self.argument = task, call, argument
