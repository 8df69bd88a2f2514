"""Points of a sweep: runs described completely by values and texts, so that any machine can execute them.

A point's key is a hash of all inputs of its result: study, settings, cluster, simulator, seed, and sources. A known
point is not repeated; a change of the sources makes it a new point.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pymodels.config import render
from pymodels.config.generate import cluster_of_size
from pymodels.config.writer import CONFIG
from pymodels.errors import ConfigError, SanlabError
from pymodels.numerals import whole
from pymodels.roots import roots
from tb.plan.request import Request, plan
from tb.plan.studies import StudyInfo
from tb.sweep.designs import AXIS, Designs
from tb.sweep.outside import Outside, outside
from tb.tools.sources import SOURCES, SUFFIXES, aside

OWN = ("hosts", "seed", "profile")
"""Axes that are not settings."""


@dataclass(frozen=True)
class Point:
    """Run of a sweep."""

    study: str
    simulator: str
    seed: int
    profile: str
    settings: Mapping[str, str]
    config: str
    """Name of the cluster's configuration file."""
    cluster: Mapping[str, str]
    """Texts of the configuration files by name."""
    sources: str
    """Hash of the sources, then of further inputs: imported modules elsewhere, and files named in settings."""
    directory: str
    """Directory to which file names in settings are relative."""
    axes: Mapping[str, str]
    """Position of the point on the axes."""
    commits: Mapping[str, str] = field(default_factory=dict)
    """Git commit of each root at the start of the sweep."""

    @property
    def key(self) -> str:
        """Identity of the point, without its position in a sweep: 32 hexadecimal digits."""
        told = {name: value for name, value in asdict(self).items() if name not in ("axes", "directory", "commits")}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def name(self) -> str:
        """Position as text: `hosts=4 size=64`."""
        return " ".join(f"{key}={value}" for key, value in self.axes.items())

    def request(self, folder: Path) -> Request:
        """Return the request of this point. Configuration and results go to `folder`."""
        config = folder / "cluster" / self.config
        for name, text in self.cluster.items():
            path = config.parent / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        told = (self.study, self.simulator, self.seed, False, str(config), self.profile, self.settings)
        return Request(*told, folder=str(folder), directory=self.directory, commits=self.commits)


def spread(
    base: Request, info: StudyInfo, places: Iterable[Mapping[str, str]], designs: Designs = MappingProxyType({})
) -> list[Point]:
    """Return the points at these positions.

    Args:
        base: Run whose values the axes replace.
        info: Study.
        places: Positions: values by axis.
        designs: Settings of the designs that the axis `design` selects.

    Raises:
        ConfigError: A setting is also an axis, or a number of hosts or seed is invalid.
        SanlabError: The inputs of a study outside of the tree are unknown.
    """
    given = _texts(Path(base.cluster_file))
    led_to = outside(info.name, SOURCES)
    found = []
    for axes in places:
        design = designs[axes[AXIS]] if AXIS in axes and designs else {}
        twice = sorted(design.keys() & axes.keys())
        if twice:
            raise ConfigError("AXES", 0, f"{twice[0]} given twice", f"design {axes[AXIS]!r} sets it", "keep one")
        place = {**{key: value for key, value in axes.items() if not designs or key != AXIS}, **design}
        twice = sorted(base.settings.keys() & place.keys())
        if twice:
            raise ConfigError("AXES", 0, f"{twice[0]} given twice", "SET has it too", "keep one")
        settings = {**base.settings, **{key: value for key, value in place.items() if key not in OWN}}
        config, cluster = _generated(place["hosts"]) if "hosts" in place else given
        found.append(
            Point(
                study=base.study,
                simulator=base.simulator,
                seed=_integer("seed", place["seed"]) if "seed" in place else base.seed,
                profile=place.get("profile", base.profile_name),
                settings=settings,
                config=config,
                cluster=cluster,
                sources=_digest(led_to, settings.values(), base.directory),
                directory=base.directory,
                axes=dict(axes),
                commits=base.commits,
            )
        )
    return found


def check(points: Iterable[Point], info: StudyInfo) -> None:
    """Plan every point before any runs. Raises SanlabError with the name of the first invalid point."""
    with tempfile.TemporaryDirectory() as scratch:
        for point in points:
            _check_one(point, info, Path(scratch))


def _check_one(point: Point, info: StudyInfo, scratch: Path) -> None:
    try:
        plan(point.request(scratch), info)
    except SanlabError as error:
        cause = str(error).replace(f"{scratch}/", "")
        raise ConfigError("AXES", 0, f"invalid point {point.name}", cause, "leave it out") from None


@cache
def sources_digest() -> str:
    """Return a hash of all sources that results depend on, including those of other roots."""
    digest = hashlib.sha256()
    for name, path in _sources():
        if not aside(name):
            digest.update(name.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _sources() -> Iterator[tuple[Path, Path]]:
    """Yield each source by its name below a root, with its path."""
    for root in roots():
        files = (path for top in SOURCES for path in (root / top).rglob("*") if path.suffix in SUFFIXES)
        yield from ((path.relative_to(root), path) for path in sorted(files))


@cache
def _generated(hosts: str) -> tuple[str, dict[str, str]]:
    count = _integer("hosts", hosts)
    if count < 2:
        raise ConfigError("AXES", 0, "value out of range", f"hosts is {count}", "give 2 or more")
    cluster = cluster_of_size(count)
    return CONFIG, render(cluster, f"{count} hosts, drawn for a sweep")


def _texts(config: Path) -> tuple[str, dict[str, str]]:
    """Return a configuration file and the files below its folder that its words name, recursively, by relative name."""
    found: dict[str, str] = {}
    todo = [config.name]
    while todo:
        name = todo.pop()
        path = config.parent / name
        if name in found or not path.is_file() or config.parent not in path.resolve().parents:
            continue
        found[name] = text = path.read_text(encoding="utf-8", errors="replace")
        todo += text.split()
    return config.name, found


def _digest(led_to: Outside, values: Iterable[str], directory: str) -> str:
    """Return the hash of the sources, followed by one of further inputs if there are any."""
    files = sorted({*led_to.files, *(path for value in values if (path := Path(directory) / value).is_file())})
    digest = hashlib.sha256(repr(led_to.versions).encode())
    for path in files:
        digest.update(path.read_bytes())
    return sources_digest() + (digest.hexdigest()[:16] if files or led_to.versions else "")


def _integer(key: str, text: str) -> int:
    try:
        return whole(text)
    except ValueError:
        raise ConfigError("AXES", 0, "wrong type", f"{key} is {text!r}", "give a whole number") from None
