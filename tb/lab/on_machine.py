"""Study on the pure-Python machine: `python -m tb.lab.on_machine STUDY --set "..." --nodes 8 --seed 1`.

For long runs of studies that count messages and read no trace. Firmware and libraries are those of the RTL. All hosts
are on one crossbar, and a path takes a flat time. Other delays come from the NIC's profile where the machine supports
them (`tb/lab/honoured.py`). A setting without effect on the machine is rejected.

The command prints the metrics, the messages per CPU second, and the failures. Exit codes: 0 all checks hold; 1 a check
fails; 2 invalid input.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firmware.layers import check_options, host_library, nic_program
from firmware.view import ClusterView
from pymodels.errors import ConfigError, SanlabError
from pymodels.kernel import Kernel
from pymodels.machine import Machine
from pymodels.numerals import SEEDS, argument
from pymodels.options import SETTING
from pymodels.profiles import DEFAULT_KIND, load_profile
from pymodels.profiles.profile import parse_settings
from tb.lab.honoured import check_honoured, timing_of
from tb.lab.lab import Notebook
from tb.plan import studies
from tb.plan.options import Option
from tb.plan.request import RUN_OPTIONS

LONGEST_US = 10**12


@dataclass(frozen=True)
class Running:
    """Part of `RunningCluster` that such a study needs."""

    nics: Sequence[Any]


class MachineLab(Notebook):
    """Part of `tb.lab.lab.Lab` that such a study needs."""

    def __init__(self, machine: Machine, nodes: int, seed: int, options: Mapping[str, float | str]) -> None:
        super().__init__()
        self.machine, self.nodes, self.seed, self._options = machine, nodes, seed, options
        self.running = Running(machine.nics)

    @property
    def kernel(self) -> Kernel:
        """Event loop of the machine."""
        return self.machine.kernel

    def option(self, name: str) -> int:
        """Return a whole-number option."""
        return int(self._options[name])

    def text(self, name: str) -> str:
        """Return a text option."""
        return str(self._options[name])

    def start_layer(self, layer: str) -> list[Any]:
        """Start a layer's firmware on each NIC and its library on each host. Raises SanlabError for unknown options."""
        mine = {name: one for name, one in self._options.items() if name.startswith(f"{layer}.")}
        own = {name.removeprefix(f"{layer}."): one if isinstance(one, str) else int(one) for name, one in mine.items()}
        card = self.machine.host(0).card
        check_options(layer, own, self.nodes, self.machine.nic(0).sram_bytes, card)
        libraries = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node, **own))
            nic = self.machine.nic(node)
            nic.spawn(nic_program(layer)(nic, view), layer)
            libraries.append(host_library(layer)(host, view))
        return libraries

    def progress(self, done: int, total: int, what: str = "messages") -> None:
        """Ignore a progress report."""


HONOURED = ("fault.loss", "fault.damage", "fault.reorder")
"""Settings of every run that the machine supports."""
NO_SIMULATOR = "the machine has no simulator, and none of its clocks, trace and watchdog"
NO_CORE = "NICs of the machine execute Python"
NO_FAULT = "the machine supports only loss, damage and reordering of packets"
IGNORED: Mapping[str, str] = {
    "run": NO_SIMULATOR,
    "nic": NO_CORE,
    "core": NO_CORE,
    "fault": NO_FAULT,
    "cluster": "all hosts are on one crossbar",
    "fpga": "it has no FPGA card",
}
"""Reasons for the other settings of every run, by group."""


def check_run(settings: Iterable[str]) -> None:
    """Raise ConfigError for the first setting of every run that the machine ignores."""
    for name in settings:
        if name in RUN_OPTIONS and name not in HONOURED:
            what, why = f"{name} has no effect on the machine", IGNORED[name.partition(".")[0]]
            raise ConfigError(SETTING, 0, what, why, "leave it out, or run on the RTL")


def options_of(known: Mapping[str, Option], given: Mapping[str, str]) -> dict[str, float | str]:
    """Return the options of a study with the values that the user has set. Raises SanlabError."""
    return {name: one.parse(name, given[name]) if name in given else one.default for name, one in known.items()}


def run(study: str, settings: str, nodes: int, nic: str, seed: int) -> MachineLab:
    """Run a study and return its lab. Raises SanlabError."""
    info = studies.load(study)
    known = {**RUN_OPTIONS, **info.options}
    given = parse_settings(settings)
    profile = load_profile(nic).override(given, known)
    check_run(given)
    check_honoured(given.keys() - known.keys(), profile)
    options = options_of(known, given)
    machine = Machine(
        nodes,
        seed=seed + profile.integer("host.interrupt_seed"),
        trace=False,
        nic=profile.kind,
        timing=timing_of(profile),
        host_bytes=profile.integer("memory.bytes"),
        sram_bytes=profile.integer("sram.bytes"),
    )
    loss, damage, reorder = (float(options[name]) for name in HONOURED)
    machine.faults.lose(loss, damage, seed, reordered=reorder)
    lab = MachineLab(machine, nodes, seed, options)
    machine.finish(info.module.run(lab), within_us=LONGEST_US)
    return lab


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, run the study, and return the exit code."""
    parser = argparse.ArgumentParser(description="Run a study on the machine.")
    parser.add_argument("study")
    parser.add_argument("--set", default="", dest="settings", metavar="KEY=VALUE ...")
    parser.add_argument("--nodes", type=argument(1, 1024), default=8)
    parser.add_argument("--nic", default=DEFAULT_KIND, help="profile of the NICs")
    parser.add_argument("--seed", type=argument(0, SEEDS - 1), default=1)
    given = parser.parse_args(arguments)
    begun = time.process_time()
    try:
        lab = run(given.study, given.settings, given.nodes, given.nic, given.seed)
    except SanlabError as error:
        print(error, file=sys.stderr)
        return 2
    seconds = time.process_time() - begun
    for name, value in lab.findings.metrics.items():
        print(f"{name:24} {value:.6g}")
    print(f"{'messages':24} {lab.findings.messages}")
    print(f"{'messages per CPU second':24} {lab.findings.messages / seconds:.0f}")
    for warning in lab.findings.warnings:
        print(f"warning: {warning}")
    for failure in lab.findings.failures:
        print(f"failed: {failure}")
    return int(bool(lab.findings.failures))


if __name__ == "__main__":
    sys.exit(main())
