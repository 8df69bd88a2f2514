"""What LAPI refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class Misuse(Exception):  # noqa: N818 - it never leaves the library
    """What is wrong with an argument, found where the call is not known."""

    def __init__(self, argument: str, cause: str, remedy: str) -> None:
        super().__init__(argument, cause, remedy)
        self.argument, self.cause, self.remedy = argument, cause, remedy


class LapiError(SanlabError):
    """A call that cannot be done: the task, the call by its name in the manual, and the argument."""

    def __init__(self, task: int, call: str, argument: str, cause: str, remedy: str) -> None:
        super().__init__(", ".join(part for part in (f"task {task}", call, argument) if part), cause, remedy)
        self.args = (task, call, argument, cause, remedy)
        self.task, self.call, self.argument = task, call, argument
