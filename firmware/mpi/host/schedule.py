"""Non-blocking collectives in progress: coroutines that are resumed within later MPI calls.

The steps of a blocking collective wait for messages in the engine. Those of a non-blocking one pause and are resumed
when their messages have arrived. Their CPU time is charged to the call that resumes them.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Sequence
from typing import Any

from firmware.mpi.host.errors import Misuse
from firmware.mpi.host.operation import Operation


class Pause:
    """Wait of a schedule for messages."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    @property
    def over(self) -> bool:
        """True if all operations are complete."""
        return all(one.done for one in self._operations)

    def __await__(self) -> Generator[Pause, None, None]:
        if not self.over:
            yield self


class _Forwarded:
    """Wait of a schedule for anything else, forwarded to the task that resumes the schedule."""

    def __init__(self, wait: Any) -> None:
        self._wait = wait

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield self._wait)


class Schedule:
    """Steps of one non-blocking collective, and the operation that completes with them."""

    def __init__(self, operation: Operation, steps: Coroutine[Any, Any, None]) -> None:
        self.operation, self._steps = operation, steps
        self._pause = Pause([])

    @property
    def ready(self) -> bool:
        """True if `resume` would make progress."""
        return not self.operation.done and self._pause.over

    async def resume(self) -> None:
        """Continue to the next pause or the end. An MPI error becomes the operation's."""
        sent: Any = None
        try:
            while True:
                wait = self._steps.send(sent)
                if isinstance(wait, Pause):
                    self._pause = wait
                    return
                sent = await _Forwarded(wait)
        except StopIteration:
            self.operation.finish()
        except Misuse as wrong:
            self.operation.error = wrong
            self.operation.status.error = int(wrong.error_class)
            self.operation.finish()
        except BaseException:
            self._steps.close()
            raise
