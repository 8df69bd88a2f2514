"""Family of published values: its rows, the runs that measure them, and their uncertain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pymodels.errors import ConfigError, nearest
from pymodels.profiles import Profile, parse_settings
from pymodels.published import Published, load_discrepancies, load_families, load_published
from pymodels.published_roles import Role
from pymodels.published_scores import published_score, score, score_sd
from pymodels.results import Kind
from tb.calibrate.match import Observation
from tb.calibrate.space import FILE, Dimension, Unknowns, dimensions, load_unknowns
from tb.figures.record import Today, load_record, run_settings
from tb.plan import studies
from tb.plan.request import Request, plan, resolve
from tb.plan.studies import StudyInfo
from tb.tools.paths import SIMULATORS


@dataclass(frozen=True)
class Run:
    """Run of one study on one profile that measures rows of a family."""

    base: Request
    info: StudyInfo
    profile: Profile
    rows: tuple[Published, ...]

    @property
    def name(self) -> str:
        """Study and profile, and the settings if there are any."""
        told = " ".join(f"{key}={value}" for key, value in self.base.settings.items())
        return f"{self.base.study} on {self.profile.name}" + (f", {told}" if told else "")


@dataclass(frozen=True)
class Family:
    """Rows of a family with observations, runs and uncertain values; `without`: reasons of rows that are not run."""

    name: str
    runs: tuple[Run, ...]
    space: tuple[Dimension, ...]
    observed: tuple[Observation, ...]
    without: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> dict[str, Published]:
        """Published values by name."""
        return {row.name: row for run in self.runs for row in run.rows}

    def scores(self, metrics: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """Return the score of each row; NaN for a row that no run measured.

        Args:
            metrics: Metrics of each run, in the order of `runs`; empty for a failed run.
        """
        measured = {
            row.name: found[row.metric]
            for run, found in zip(self.runs, metrics, strict=True)
            for row in run.rows
            if row.metric in found
        }
        told = {}
        for name, row in self.rows.items():
            value = score(row, measured[name], measured.get(row.peak)) if name in measured else math.nan
            told[name] = value if math.isfinite(value) else math.nan
        return told


def load_family(
    name: str,
    simulator: str,
    seed: str,
    published: Sequence[Published] | None = None,
    unknowns: Unknowns | None = None,
    record: Mapping[str, Today] | None = None,
) -> Family:
    """Return a family. Its runs have the settings of the recorded commands, unless the unknowns declare others.

    Args:
        name: Name of the family.
        simulator: Name of the simulator.
        seed: Seed of the runs.
        published: All published values; those of the repository by default.
        unknowns: Declared unknowns; those of the repository by default.
        record: Record of measured values; that of the repository by default.

    Raises:
        ConfigError: The family is unknown, no row of it conditions values, or a declared range is invalid.
    """
    values = load_published() if published is None else published
    declared = load_unknowns(name) if unknowns is None else unknowns
    known = load_record() if record is None else record
    if name not in load_families():
        raise ConfigError("FAMILY", 0, "unknown family", repr(name), nearest(name, load_families()))
    for absent in declared.without.keys() - {row.name for row in values if row.family == name}:
        members = [row.name for row in values if row.family == name]
        raise ConfigError(str(FILE), 0, "unknown row", repr(absent), nearest(absent, members))
    rows = [row for row in values if row.family == name and _is_measured(row) and row.name not in declared.without]
    if not any(row.role is Role.TRAIN for row in rows):
        cause, remedy = f"no row of {name} has the role train", f"choose one of: {', '.join(trained(values))}"
        raise ConfigError("FAMILY", 0, "family without conditioning rows", cause, remedy)
    runs = _runs(rows, declared, known, simulator, seed)
    space = dimensions([(run.profile, run.base.settings, run.info.options) for run in runs], declared)
    every = {row.name: row for row in values}
    observed = tuple(_observation(row, every.get(row.peak)) for run in runs for row in run.rows)
    return Family(name, runs, space, observed, declared.without)


def trained(values: Sequence[Published] | None = None) -> list[str]:
    """Return the families with conditioning rows, in the order of the alphabet; of the repository by default."""
    known = load_published() if values is None else values
    return sorted({row.family for row in known if row.role is Role.TRAIN and _is_measured(row)})


def _is_measured(row: Published) -> bool:
    return row.kind is not Kind.QUOTED and row.role in (Role.TRAIN, Role.TEST) and not row.over


def _runs(
    rows: Sequence[Published], declared: Unknowns, record: Mapping[str, Today], simulator: str, seed: str
) -> tuple[Run, ...]:
    """Return the runs of some rows, one for each study, profile and settings."""
    groups: dict[tuple[str, str, str], list[Published]] = {}
    for row in rows:
        told = dict(run_settings(record[row.name].command) if row.name in record else parse_settings(row.settings))
        told.update(parse_settings(declared.settings.get(row.study, "")))
        text = " ".join(f"{key}={value}" for key, value in told.items())
        groups.setdefault((row.study, row.profile, text), []).append(row)
    found = []
    for (study, profile, text), members in groups.items():
        info = studies.load(study).chosen(parse_settings(text))
        base = resolve(study, simulator, seed, False, info.cluster or "", profile, text, SIMULATORS)
        found.append(Run(base, info, plan(base, info).profile, tuple(members)))
    return tuple(found)


def _observation(row: Published, peak: Published | None) -> Observation:
    top = peak.value if peak else None
    wanted = published_score(row, top)
    share = load_discrepancies()[row.discrepancy].share
    return Observation(row.name, row.table, row.role is Role.TRAIN, wanted, score_sd(row, top), share * abs(wanted))
