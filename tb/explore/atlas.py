"""States of each part of a world, computed on demand.

Parts interact by messages only. The effect of a step therefore depends on its part alone. It is computed once,
regardless of the number of world states that contain the part's state.
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
    """State of a part: the state and step by which it was first reached, and the results of its steps."""

    seen: Seen
    number: int
    before: int = -1
    step: Step = ()
    after: dict[Step, tuple[int, Sent]] = field(default_factory=dict)


class Atlas:
    """Known states of all parts of a world. Call `close` at the end: the atlas runs a process that computes steps."""

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
        """Number of executed steps."""
        self.processor_s = 0.0
        """CPU time of the executed steps in seconds."""
        self.tick: Callable[[], None] = lambda: None
        """Function called before each request."""
        try:
            self._begin(self._receive())
        except BaseException:
            self.close()
            raise

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.places)

    def _begin(self, parts: int) -> None:
        """Compute the initial state of every part."""
        self.places = [[] for _ in range(parts)]
        self._numbers = [{} for _ in range(parts)]
        for part in range(parts):
            self._here.send((part, [], b"", None))
            (first,), self.processor_s = self._receive()
            self._place(part, first.seen, -1, ())

    def close(self) -> None:
        """End the process and its forks, whatever they are doing."""
        self._here.close()
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def after(self, part: int, number: int, step: Step) -> tuple[int, Sent]:
        """Return the number of the state after a step, and the messages sent."""
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
    """Make a process (0: this one) the leader of its own group, so that Ctrl-C reaches the search only, which ends the
    group.
    """
    with suppress(ProcessLookupError, PermissionError):  # it has ended, or already leads a group
        os.setpgid(process, process)


def _serve(world: SmallWorld, connection: Connection) -> None:
    """Run the process that holds the initial state of all parts and forks for every requested path."""
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
    except BaseException:  # noqa: BLE001 - the process ends here in any case, with a traceback
        traceback.print_exc()
    finally:
        os._exit(code)


def _forked(work: Callable[[], list[Result]]) -> list[Result]:
    """Return the results of `work` in a fork of this process, and keep the liveness analysis of new code objects."""
    here, there = Pipe(duplex=False)
    pid = os.fork()
    if not pid:
        try:
            gc.disable()
            met = set(liveness.SOLVED)
            found = work()
            there.send((found, [marshal.dumps(code) for code in liveness.SOLVED if code not in met]))
        except BaseException:  # noqa: BLE001 - the process ends here in any case, with a traceback
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
    """Return the initial state of a part, or the result of a step after a path together with a tour from there."""
    stage.enter(part)
    if step is None:
        return [Result(before, (), stage.seen(), ())]
    for taken in way:
        stage.step(taken)
    return tour(stage, known, before, step)
