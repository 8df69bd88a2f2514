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
from typing import Any

from tb.explore import liveness
from tb.explore.part import Seen, Sent, Stage, Step
from tb.explore.tour import Map, Result, tour
from tb.explore.world import SmallWorld


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
        self.processor_s = 0.0
        """Seconds of a processor that this took."""
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
            (first,), self.processor_s = self._receive()
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
            results: list[Result]
            results, self.processor_s = self._receive()
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
        maps = [Map() for _ in range(stage.parts)]
        while True:
            part, way, before, step = connection.recv()
            results = _forked(partial(_worked_out, stage, maps[part], part, way, before, step))
            for result in results:
                maps[part].learn(result)
            connection.send((results, sum(os.times()[:4])))
    except (EOFError, BrokenPipeError):  # the search has ended
        code = 0
    except BaseException:  # noqa: BLE001 - the process ends here, whatever the reason, and says why
        traceback.print_exc()
    finally:
        os._exit(code)


def _forked(work: Callable[[], list[Result]]) -> list[Result]:
    """What a fork of this process works out; the codes that it met are known from then on."""
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
    liveness.learn(codes)
    return results


def _worked_out(stage: Stage, known: Map, part: int, way: list[Step], before: bytes, step: Step | None) -> list[Result]:
    """The beginning of a part; or a step from the state behind a way, and a tour from there."""
    stage.enter(part)
    if step is None:
        return [Result(before, (), stage.seen(), ())]
    for taken in way:
        stage.step(taken)
    return tour(stage, known, before, step)
