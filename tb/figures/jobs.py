"""Runs of `make figures`: every study with its variants, and once more on each other profile with published values."""

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
"""File with the key of a passed run, next to its results."""
NO_WAVES = {"run.stuck_waves": "0"}
"""Settings of each run: no waves after a deadlock, which `make run` of the study writes."""


@dataclass(frozen=True)
class Job:
    """Run with the words of its command and a key that changes with all inputs of its result."""

    name: str
    """Name of the study, followed by the profile if it is not the study's own, or by the variant."""
    info: StudyInfo
    request: Request
    key: str

    @property
    def done(self) -> bool:
        """True if the folder has the results of a passed run with these sources and settings."""
        folder = Path(self.request.folder)
        try:
            known = (folder / KEY).read_text(encoding="utf-8").strip()
        except OSError:
            return False
        return known == self.key and (folder / RESULTS).is_file()

    def words(self) -> list[str]:
        """Return the arguments of `tb.run`."""
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
    """Return the runs in the order of the studies.

    Args:
        names: Names of the studies.
        published: Published values, which select further profiles.
        quick: True for the quick settings of each study.
        simulator: Name of the simulator.
        folder: Folder for the results.
        skipped: List that receives a line for each variant whose program is not installed.

    Raises:
        SanlabError: A study's quick settings are invalid.
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
    """Add a line to `skipped` if the body raises NotInstalledError."""
    try:
        yield
    except NotInstalledError as missing:
        skipped.append(f"{name}: {missing}")


def _job(
    info: StudyInfo, label: str, quick: bool, simulator: str, folder: Path, profile: str = "", more: str = ""
) -> Job:
    """Return one run. `label` distinguishes it from the study's own run; `more` has further settings."""
    name = f"{info.name}-{label}" if label else info.name
    request = resolve(info.name, simulator, "1", False, info.cluster or "", profile, more, SIMULATORS)
    settings = {**request.settings, **(parse_settings(info.quick) if quick else {})}
    request = replace(request, folder=str(folder / name), settings=settings)
    plan(request, info)
    return Job(name, info, request, spread(request, info, [{}])[0].key)
