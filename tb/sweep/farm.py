"""Execution of points on a Dask cluster, local or at a scheduler's address. A failed point is tried once more."""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, ClassVar, Protocol, TypeVar
from uuid import uuid4

from pymodels.errors import ConfigError
from tb.build.travel import Parcel
from tb.sweep.work import Done

ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})|inproc://[\w./-]+", re.ASCII)
"""Pattern of a scheduler's address: scheme, host and port; an in-process scheduler has no port."""
PATIENCE_S = 10
"""Seconds to wait for a scheduler (our choice)."""
ATTEMPTS = 2
"""Number of attempts for a failing point: a worker may have died, or a disk may have been full."""
P = TypeVar("P", bound="Work")
Ended = Callable[[P, Done, bool], None]
"""Function called with a point, its outcome, and True if the point will be tried again."""


class Work(Protocol):
    """Unit of work for a worker: a frozen dataclass of plain values."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def study(self) -> str:
        """Return the study or campaign of the work."""


def check_address(scheduler: str) -> None:
    """Raise ConfigError for an address without a port, or not in Dask's form."""
    found = ADDRESS.fullmatch(scheduler)
    if scheduler and (found is None or not 0 < int(found[1] or "1") < 1 << 16):
        cause = f"SCHEDULER is {scheduler!r}"
        raise ConfigError("SCHEDULER", 0, "invalid address", cause, "give host:port, such as tcp://127.0.0.1:8786")


@contextmanager
def client(scheduler: str, workers: int) -> Iterator[Any]:
    """Yield a Dask client of a scheduler, or of a local cluster of `workers` threads if the address is empty.

    Each point is a separate process, so threads are sufficient. Raises ConfigError if no scheduler responds or it has
    no worker.
    """
    check_address(scheduler)
    distributed = _dask()
    for name in (known for known in logging.root.manager.loggerDict if known.startswith("distributed")):
        logging.getLogger(name).setLevel(logging.CRITICAL)
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
            cause, remedy = (
                f"none within {PATIENCE_S} s",
                "start `dask worker` in a checkout of these sources, or with their wheel installed",
            )
            raise ConfigError("SCHEDULER", 0, f"no worker at {scheduler!r}", cause, remedy) from None
        yield found


@contextmanager
def _children_ended() -> Iterator[None]:
    """Kill the simulators started in the context if it ends early, since threads that wait for them cannot."""
    psutil = importlib.import_module("psutil")
    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException:
        for child in set(psutil.Process().children(recursive=True)) - before:
            with suppress(psutil.Error):
                child.kill()
        raise


def threads(dask: Any) -> int:
    """Return the number of points that a client's workers can run at a time."""
    return sum(dask.nthreads().values())


def run(
    dask: Any,
    points: Sequence[P],
    ended: Ended[P],
    work: Callable[[P], Done],
    parcel: Callable[[P], Parcel] | None = None,
) -> None:
    """Run points in order as workers are free. Failed points are tried again.

    Args:
        dask: Client.
        points: Points to run.
        ended: Function called for each completed point.
        work: Function that runs a point on a worker.
        parcel: Function that returns the build of a point; each build is sent once to the cluster.
    """
    builds = _sent(dask, points, parcel) if parcel is not None else {}
    todo = list(points)
    for attempt in range(1, ATTEMPTS + 1):
        todo = [point for point, done in _round(dask, todo, attempt, work, ended, builds) if done.failures]


def _sent(dask: Any, points: Sequence[P], parcel: Callable[[P], Parcel]) -> dict[int, Any]:
    """Send each build once to the cluster; return the remote builds by the identity of the point."""
    sent: dict[str, Any] = {}
    found = {}
    for point in points:
        build = parcel(point)
        if build.name not in sent:
            (sent[build.name],) = dask.scatter([tuple(build)], hash=False)
        found[id(point)] = sent[build.name]
    return found


def _round(
    dask: Any,
    points: Sequence[P],
    attempt: int,
    work: Callable[[P], Done],
    ended: Ended[P],
    builds: Mapping[int, Any],
) -> Iterator[tuple[P, Done]]:
    if not points:
        return
    call = _caller()
    futures = {}
    for p in points:
        given = _named(work), _named(type(p)), asdict(p), builds.get(id(p))
        futures[dask.submit(call, *given, key=f"{p.study}-{uuid4().hex}", pure=False)] = p
    for future in _dask().as_completed(list(futures), loop=dask.loop):
        done = _outcome(future)
        ended(futures[future], done, bool(done.failures) and attempt < ATTEMPTS)
        yield futures[future], done
        future.release()


def _dask() -> Any:
    """Return the package `distributed`, imported on demand since that takes a second."""
    return importlib.import_module("distributed")


def _named(what: Any) -> tuple[str, str]:
    """Return module and name of a function or class."""
    return what.__module__, what.__name__


def _caller() -> Callable[..., tuple[str, tuple[str, ...], float]]:
    """Return a function that calls another function by name with a point, both as plain values.

    A nested function is sent by value. A scheduler therefore needs no sources. A worker uses the checkout in which it
    was started, or the installed package `sanlab`, with results in its working directory.
    """

    def call(
        work: tuple[str, str], kind: tuple[str, str], point: dict[str, Any], build: tuple[Any, ...] | None
    ) -> tuple[str, tuple[str, ...], float]:
        import importlib
        import os
        import sys

        def exists(folder: str) -> bool:
            return os.path.isfile(os.path.join(folder, *work[0].split(".")) + ".py")

        if not any(map(exists, sys.path)):
            here = os.getcwd()
            if not exists(here):
                tree = importlib.import_module("sanlab.tree")
                here = str(tree.TREE)
                os.environ.setdefault(tree.OUT, str(tree.out()))
            sys.path.insert(0, here)
        if build is not None:
            travel = importlib.import_module("tb.build.travel")
            travel.unpack(travel.Parcel(*build))
        function, made = (getattr(importlib.import_module(module), name) for module, name in (work, kind))
        done = function(made(**point))
        return done.results, tuple(done.failures), done.seconds

    return call


def _outcome(future: Any) -> Done:
    """Return a worker's result, or a failure if it returned none."""
    try:
        return Done(*future.result())
    except CancelledError:
        return Done(failures=("connection to the scheduler lost",))
    except ModuleNotFoundError as error:
        return Done(
            failures=(f"sanlab is missing on the worker ({error}): start it in a checkout, or install the wheel",)
        )
    except Exception as error:  # noqa: BLE001 - the worker's own, or Dask's: a failure of this point, with its name
        return Done(failures=(f"{type(error).__name__}: {error}".splitlines()[0],))
