"""The states of each part of a world, found as the search asks for them.

Parts touch each other by messages only, so what a step makes of a part depends on that part alone: it is worked out
once, however many states of the whole world it belongs to.
"""

from __future__ import annotations

import gc
import marshal
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from tb.explore import liveness
from tb.explore.part import Seen, Sent, Stage, Step
from tb.explore.world import SmallWorld

Known = set[bytes]
"""Digests of states from which everything was worked out that a part does by itself."""


class Result(NamedTuple):
    """A step of a part."""

    before: bytes
    """The digest of the state in which it was taken."""
    step: Step
    seen: Seen
    """What it made of the part."""
    sent: Sent
    """The messages that left."""


@dataclass
class Place:
    """A state of a part: where it was first reached from, and where its turns lead."""

    seen: Seen
    number: int
    before: int = -1
    step: Step = ()
    after: dict[Step, tuple[int, Sent]] = field(default_factory=dict)


class Atlas:
    """The known states of all parts of a world. Close it: it has a process that works them out."""

    def __init__(self, world: SmallWorld) -> None:
        self._here, there = Pipe()
        self._pid = os.fork()
        if not self._pid:
            self._here.close()
            _serve(world, there)
        _lead(self._pid)
        there.close()
        self.places: list[list[Place]] = []
        self._numbers: list[dict[bytes, int]] = []
        self.worked_out = 0
        """Steps that were taken."""
        self.tick: Callable[[], None] = lambda: None
        """Called before each request."""
        try:
            self._begin(self._receive())
        except BaseException:
            self.close()
            raise

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(self.places)

    def _begin(self, parts: int) -> None:
        """The first state of every part."""
        self.places = [[] for _ in range(parts)]
        self._numbers = [{} for _ in range(parts)]
        for part in range(parts):
            self._here.send((part, [], b"", None))
            (first,) = self._receive()
            self._place(part, first.seen, -1, ())

    def close(self) -> None:
        """End the process, and what it has forked, whatever they are doing."""
        self._here.close()
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def after(self, part: int, number: int, step: Step) -> tuple[int, Sent]:
        """The state that a step leads to, and the packets that left."""
        place = self.places[part][number]
        found = place.after.get(step)
        if found is None:
            self.tick()
            self._here.send((part, self._way(part, number), place.seen.digest, step))
            results: list[Result] = self._receive()
            self.worked_out += len(results)
            for one in results:
                at = self._numbers[part][one.before]
                self.places[part][at].after[one.step] = self._place(part, one.seen, at, one.step), one.sent
            found = place.after[step]
        return found

    def _receive(self) -> Any:
        return self._here.recv()

    def _place(self, part: int, seen: Seen, before: int, step: Step) -> int:
        numbers = self._numbers[part]
        number = numbers.get(seen.digest)
        if number is None:
            number = numbers[seen.digest] = len(self.places[part])
            self.places[part].append(Place(seen, number, before, step))
        return number

    def _way(self, part: int, number: int) -> list[Step]:
        way: list[Step] = []
        place = self.places[part][number]
        while place.before >= 0:
            way.append(place.step)
            place = self.places[part][place.before]
        return way[::-1]


def _lead(process: int) -> None:
    """Let a process (0: this one) lead a group of its own: Ctrl-C is for the search, which ends the group."""
    with suppress(ProcessLookupError, PermissionError):  # it has ended, or leads one
        os.setpgid(process, process)


def _serve(world: SmallWorld, connection: Connection) -> None:
    """The process that stands at the beginning of all parts, and forks for every way that is asked for."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _lead(0)
        stage = Stage(world)
        connection.send(stage.parts)
        gc.freeze()
        known: Known = set()
        while True:
            part, way, before, step = connection.recv()
            connection.send(_forked(known, partial(_worked_out, stage, known, part, way, before, step)))
    except (EOFError, BrokenPipeError):  # the search has ended
        code = 0
    except BaseException:  # noqa: BLE001 - the process ends here, whatever the reason, and says why
        traceback.print_exc()
    finally:
        os._exit(code)


def _forked(known: Known, work: Callable[[], list[Result]]) -> list[Result]:
    """What a fork of this process works out; its states are known from then on, and so are the codes that it met."""
    here, there = Pipe(duplex=False)
    pid = os.fork()
    if not pid:
        try:
            gc.disable()
            met = set(liveness.SOLVED)
            found = work()
            there.send((found, [marshal.dumps(code) for code in liveness.SOLVED if code not in met]))
        except BaseException:  # noqa: BLE001 - the same
            traceback.print_exc()
        finally:
            os._exit(0)
    there.close()
    results: list[Result]
    try:
        results, codes = here.recv()
    finally:
        here.close()
        os.waitpid(pid, 0)
    known.update(result.seen.digest for result in results)
    liveness.learn(codes)
    return results


def _worked_out(
    stage: Stage, known: Known, part: int, way: list[Step], before: bytes, step: Step | None
) -> list[Result]:
    """The beginning of a part; or a step from the state behind a way, and further ones up to states that are known."""
    stage.enter(part)
    if step is None:
        return [Result(before, (), stage.seen(), ())]
    for taken in way:
        stage.step(taken)
    return _onward(stage, known, before, step)


def _onward(stage: Stage, known: Known, before: bytes, step: Step) -> list[Result]:
    """The same from where the part stands: of several turns the last is taken here, the others in forks."""
    results: list[Result] = []
    while True:
        wrong = ""
        try:
            stage.step(step)
        except Exception as error:  # noqa: BLE001 - whatever the software raises is a finding
            wrong = f"{type(error).__name__}: {error}"
        seen = stage.seen(wrong)
        results.append(Result(before, step, seen, tuple(stage.sent)))
        turns: list[Step] = [
            ("turn", number) for number, turn in enumerate(seen.turns) if not turn.is_timer and turn.asks is None
        ]
        if wrong or not turns or seen.digest in known:
            return results
        known.add(seen.digest)
        before = seen.digest
        *others, step = turns
        for other in others:
            results += _forked(known, partial(_onward, stage, known, before, other))
