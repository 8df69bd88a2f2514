"""Points on a Dask cluster: a local one, or any whose scheduler has an address. What failed is tried once more."""

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
"""Of a scheduler: scheme, host and port; one of this process has no port."""
PATIENCE_S = 10
"""For a scheduler to answer (ours)."""
ATTEMPTS = 2
"""A point that failed is tried so many times in all: a worker may have died, a disk may have been full."""
P = TypeVar("P", bound="Work")
Ended = Callable[[P, Done, bool], None]
"""Called with a point, how it ended, and whether it will be tried again."""


class Work(Protocol):
    """What a worker can be given: a frozen dataclass of plain values."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def study(self) -> str:
        """What it belongs to."""


def check_address(scheduler: str) -> None:
    """Raise ConfigError for an address without a port, or of another form than Dask's."""
    found = ADDRESS.fullmatch(scheduler)
    if scheduler and (found is None or not 0 < int(found[1] or "1") < 1 << 16):
        cause = f"SCHEDULER is {scheduler!r}"
        raise ConfigError("SCHEDULER", 0, "not an address", cause, "give host:port, such as tcp://127.0.0.1:8786")


@contextmanager
def client(scheduler: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at this address, or of a cluster of `workers` threads in this process when it is empty.

    A point is a process of its own, so threads are enough. Raises ConfigError when no scheduler answers, or when it has
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
                f"none came within {PATIENCE_S} s",
                "start `dask worker` in a checkout of these sources, or where their wheel is",
            )
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


def threads(dask: Any) -> int:
    """Points that the workers of a client can run at a time."""
    return sum(dask.nthreads().values())


def run(
    dask: Any,
    points: Sequence[P],
    ended: Ended[P],
    work: Callable[[P], Done],
    parcel: Callable[[P], Parcel] | None = None,
) -> None:
    """Run points in their order as workers are free, and tell of each as it ends. What failed is tried again.

    `parcel`: the build of a point, which its worker gets before it; each build travels once to a worker.
    """
    builds = _sent(dask, points, parcel) if parcel is not None else {}
    todo = list(points)
    for attempt in range(1, ATTEMPTS + 1):
        todo = [point for point, done in _round(dask, todo, attempt, work, ended, builds) if done.failures]


def _sent(dask: Any, points: Sequence[P], parcel: Callable[[P], Parcel]) -> dict[int, Any]:
    """The builds of points, which go to the cluster once each, by the identity of the point."""
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
    """The package, which takes a second to import and has no annotations to speak of."""
    return importlib.import_module("distributed")


def _named(what: Any) -> tuple[str, str]:
    """Module and name of a function or class."""
    return what.__module__, what.__name__


def _caller() -> Callable[..., tuple[str, tuple[str, ...], float]]:
    """A function that calls another one by name with a point, both sides as plain values.

    It stands within a function so that it travels whole: a scheduler needs no sources, and a worker finds them in the
    checkout in which it was started, or in the package `sanlab` that is installed. Then what it leaves goes to its
    working directory.
    """

    def call(
        work: tuple[str, str], kind: tuple[str, str], point: dict[str, Any], build: tuple[Any, ...] | None
    ) -> tuple[str, tuple[str, ...], float]:
        import importlib
        import os
        import sys

        def stands(folder: str) -> bool:
            return os.path.isfile(os.path.join(folder, *work[0].split(".")) + ".py")

        if not any(map(stands, sys.path)):
            here = os.getcwd()
            if not stands(here):
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
    """What a worker returned; what became of it when it returned nothing."""
    try:
        return Done(*future.result())
    except CancelledError:
        return Done(failures=("the scheduler or its connection went away",))
    except ModuleNotFoundError as error:
        return Done(failures=(f"the worker has no sanlab ({error}): start it in a checkout, or install the wheel",))
    except Exception as error:  # noqa: BLE001 - the worker's own, or Dask's: a failure of this point, with its name
        return Done(failures=(f"{type(error).__name__}: {error}".splitlines()[0],))
