"""What `make figures` runs: every study, as its variants say, and once more on each other profile that has published
values.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pymodels.profiles import parse_settings
from pymodels.published import ANY, Published
from tb.plan import studies
from tb.plan.request import Request, plan, resolve
from tb.plan.studies import StudyInfo
from tb.program.mpi.command import NotInstalledError
from tb.sweep.points import spread
from tb.tools.paths import SIMULATORS
from tb.tools.workplace import COMMITTED as RESULTS

KEY = "figure.key"
"""Beside the results of a run that passed: what it was run with."""
NO_WAVES = {"run.stuck_waves": "0"}
"""A run that stands still is told on the page; `make run` of its study makes the waves."""


@dataclass(frozen=True)
class Job:
    """One run: the words of the command, and a key that changes with everything that its result follows from."""

    name: str
    """Of the study, and of the profile when it is not the study's own, or of the variant."""
    info: StudyInfo
    request: Request
    key: str

    @property
    def done(self) -> bool:
        """True if the folder holds the results of a run that passed, with these sources and settings."""
        folder = Path(self.request.folder)
        try:
            known = (folder / KEY).read_text(encoding="utf-8").strip()
        except OSError:
            return False
        return known == self.key and (folder / RESULTS).is_file()

    def words(self) -> list[str]:
        """The arguments of `tb.run`."""
        request = self.request
        settings = shlex.join(f"{key}={value}" for key, value in {**request.settings, **NO_WAVES}.items())
        given = {"sim": request.simulator, "profile": request.profile_name, "set": settings, "out": request.folder}
        return [*(f"--{name}={value}" for name, value in given.items()), f"--cluster={request.cluster_file}", "--",
                self.info.name]  # fmt: skip


def jobs(
    names: Iterable[str],
    published: Iterable[Published],
    quick: bool,
    simulator: str,
    folder: Path,
    skipped: list[str] | None = None,
) -> list[Job]:
    """The runs in the order of the studies. A variant whose program is not installed is left out, and what to install
    added to `skipped`. Raises SanlabError when a study's quick settings cannot be.
    """
    rows = list(published)
    found = []
    for name in names:
        info = studies.load(name)
        own = _job(info, "", quick, simulator, folder)
        usual = plan(own.request, info).profile.name
        found.append(own)
        done = {usual, ANY, *(profile for profile, _ in info.variants.values())}
        others = sorted({row.profile for row in rows if row.study == name and not row.settings} - done)
        found += [_job(info, profile, quick, simulator, folder, profile) for profile in others]
        for label, given in info.variants.items():
            with _noted(skipped if skipped is not None else [], f"{name}-{label}"):
                found.append(_job(info, label, quick, simulator, folder, *given))
    return found


@contextmanager
def _noted(skipped: list[str], name: str) -> Iterator[None]:
    """What a run lacks is noted."""
    try:
        yield
    except NotInstalledError as missing:
        skipped.append(f"{name}: {missing}")


def _job(
    info: StudyInfo, label: str, quick: bool, simulator: str, folder: Path, profile: str = "", more: str = ""
) -> Job:
    """One run. `label`: what tells it from the study's own; `more`: further settings."""
    name = f"{info.name}-{label}" if label else info.name
    request = resolve(info.name, simulator, "1", False, info.cluster or "", profile, more, SIMULATORS)
    settings = {**request.settings, **(parse_settings(info.quick) if quick else {})}
    request = replace(request, folder=str(folder / name), settings=settings)
    plan(request, info)
    return Job(name, info, request, spread(request, info, [{}])[0].key)
