"""Points on a Dask cluster: a local one, or any whose scheduler has an address. What failed is tried once more."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pymodels.errors import ConfigError
from tb.sweep.points import Point
from tb.sweep.work import Done

PATIENCE_S = 10
"""For a scheduler to answer (ours)."""
ATTEMPTS = 2
"""A point that failed is tried so many times in all: a worker may have died, a disk may have been full."""
Ended = Callable[[Point, Done, bool], None]
"""Called with a point, how it ended, and whether it will be tried again."""


@contextmanager
def client(scheduler: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at this address, or of a cluster of `workers` threads in this process when it is empty.

    A point is a process of its own, so threads are enough. Raises ConfigError when no scheduler answers, or when it has
    no worker.
    """
    distributed = _dask()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if not scheduler:
        local = {"n_workers": workers, "threads_per_worker": 1, "processes": False, "dashboard_address": "localhost:0"}
        with (
            distributed.LocalCluster(**local, memory_limit=0, silence_logs=logging.CRITICAL) as cluster,
            distributed.Client(cluster) as found,
            _children_ended(),
        ):
            yield found
        return
    try:
        found = distributed.Client(scheduler, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        remedy = "start `dask scheduler`, or leave SCHEDULER out for a local cluster"
        raise ConfigError("SCHEDULER", 0, f"no scheduler at {scheduler!r}", reason, remedy) from None
    with found:
        try:
            found.wait_for_workers(1, timeout=PATIENCE_S)
        except (OSError, asyncio.TimeoutError):  # before Python 3.11 not the built-in one
            cause, remedy = f"none came within {PATIENCE_S} s", "start `dask worker` in a checkout of these sources"
            raise ConfigError("SCHEDULER", 0, f"no worker at {scheduler!r}", cause, remedy) from None
        yield found


@contextmanager
def _children_ended() -> Iterator[None]:
    """When this ends early, the simulators that were started in it end too: a thread that waits for one cannot."""
    psutil = importlib.import_module("psutil")
    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException:
        for child in set(psutil.Process().children(recursive=True)) - before:
            with suppress(psutil.Error):
                child.kill()
        raise


def run(dask: Any, points: Sequence[Point], ended: Ended, work: Callable[[Point], Done]) -> None:
    """Run points in their order as workers are free, and tell of each as it ends. What failed is tried again."""
    todo = list(points)
    for attempt in range(1, ATTEMPTS + 1):
        todo = [point for point, done in _round(dask, todo, attempt, work, ended) if done.failures]


def _round(
    dask: Any, points: Sequence[Point], attempt: int, work: Callable[[Point], Done], ended: Ended
) -> Iterator[tuple[Point, Done]]:
    if not points:
        return
    futures = {dask.submit(work, p, key=f"{p.study}-{p.key}-{attempt}", pure=False): p for p in points}
    for future in _dask().as_completed(list(futures)):
        done = _outcome(future)
        ended(futures[future], done, bool(done.failures) and attempt < ATTEMPTS)
        yield futures[future], done
        future.release()


def _dask() -> Any:
    """The package, which takes a second to import and has no annotations to speak of."""
    return importlib.import_module("distributed")


def _outcome(future: Any) -> Done:
    """What a worker returned; what became of it when it returned nothing."""
    try:
        done = future.result()
    except Exception as error:  # noqa: BLE001 - the worker's own, or Dask's: a failure of this point, with its name
        return Done(failures=(f"{type(error).__name__}: {error}".splitlines()[0],))
    return done if isinstance(done, Done) else Done(failures=(f"the worker returned {done!r}",))
