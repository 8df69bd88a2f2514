"""Test in its simulator process, and the plan of its cluster: passed from the command to the simulator in one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType

from pymodels.config.find import find_config
from pymodels.errors import ConfigError
from tb.build.build import Design
from tb.build.top import cluster_design
from tb.plan.monitors import MONITORS
from tb.plan.options import stack_options
from tb.plan.request import Plan, Request, plan
from tb.plan.studies import StudyInfo

FILE = "test.json"
VARIABLE = "SANLAB_TEST"
"""Environment variable with the folder of the test that runs in this simulator."""


@dataclass(frozen=True)
class Built:
    """Test in one simulator process."""

    test: str
    """Name of the test."""
    simulator: str
    seed: int
    folder: str
    """Folder of the test's files."""
    cluster: str = ""
    """Cluster file that was built; empty for the default."""
    profile: str = ""
    monitors: str = ""
    """Kinds of monitors that were built; empty for none."""
    public: Mapping[str, str] = field(default_factory=dict)
    """Hierarchical names of the public signals by stable name."""
    waves: bool = False

    def save(self) -> None:
        """Write the file for the simulator process."""
        (Path(self.folder) / FILE).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def load(folder: Path) -> Built:
        """Read the file in the simulator process."""
        return Built(**json.loads((folder / FILE).read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Wanted:
    """Cluster that a test starts: names of layer, profile and cluster (empty: default), and settings as in SET."""

    layer: str = ""
    profile: str = ""
    cluster: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


def study_of(test: str, layer: str) -> StudyInfo:
    """Return a test as a study whose settings are those of its layer and of every run."""
    options = stack_options(layer) if layer else {}
    question, module = f"cocotb test {test}", ModuleType(test)
    return StudyInfo(name=test, question=question, module=module, options=options, layer=layer, least_hosts=1)


def plan_of(built: Built, wanted: Wanted, info: StudyInfo) -> Plan:
    """Return the plan of a test's cluster. Raises ConfigError for the first invalid name or setting."""
    config = find_config(wanted.cluster or built.cluster or None, {})
    request = Request(
        built.test,
        built.simulator,
        built.seed,
        built.waves,
        str(config.resolve()),
        wanted.profile or built.profile,
        {MONITORS: built.monitors} | dict(wanted.settings),
        folder=built.folder,
        directory=str(Path.cwd()),
    )
    return plan(request, info)


def design_of(understood: Plan) -> Design:
    """Return the design of a plan."""
    return cluster_design(understood.cluster, understood.profile, understood.cores, understood.monitored)


def check_built(built: Built, understood: Plan, layer: str) -> None:
    """Raise ConfigError if the simulator runs another design than the plan needs."""
    of_file = plan_of(built, Wanted(), study_of(built.test, ""))
    if design_of(of_file) == design_of(understood):
        return
    wanted = {"CLUSTER": understood.cluster.file, "PROFILE": understood.profile.name}
    wanted["MONITORS"] = str(understood.options[MONITORS])
    names = ", ".join(f"{name} = {value!r}" for name, value in wanted.items() if value)
    cause = f"the simulator was built for cluster {of_file.cluster.file!r} and profile {of_file.profile.name!r}"
    remedy = f"declare at the top of the test file: {names}"
    raise ConfigError("start", 0, f"another design is needed for layer {layer!r}", cause, remedy)
