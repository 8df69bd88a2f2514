"""Request of one run: checked before anything is built, and passed to the simulator process as a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from firmware.layers import composition, has_program
from firmware.stack import stack
from pymodels.card.fabric import EXAMPLE
from pymodels.card.python import FILE, exchanged
from pymodels.card.python import KINDS as CIRCUIT_KINDS
from pymodels.config import Cluster, load_cluster
from pymodels.config.find import HOST_VARIABLE, find_config
from pymodels.config.model import FPGA_CARD
from pymodels.costs.assembly import CostError
from pymodels.costs.table import PathTable
from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.hardware.compiled import is_compiled
from pymodels.numerals import seed as seed_of
from pymodels.profiles import DEFAULT_PROFILE, Profile, load_profile, profile_names
from pymodels.profiles.profile import parse_settings
from pymodels.published import ANY, judged
from pymodels.routes import check_routes
from tb.plan.faults import OF_CARDS, faults
from tb.plan.firmware import CORE_OPTIONS, FIRMWARE, WRITTEN_IN, nodes_in_c
from tb.plan.limits import check_late, check_network, check_size
from tb.plan.monitors import KINDS, MONITORS, check_monitors
from tb.plan.on_board import OPTIONS as BOARD_OPTIONS
from tb.plan.on_board import check_board, profile_of, settings_in_force, with_board
from tb.plan.options import Option, check_layers, links_held, options_by_layer
from tb.plan.provenance import commits
from tb.plan.studies import StudyInfo, guarded

HOST = "run.host"
PUBLIC_EVAL = "run.public_eval"
INJECT = "fault.inject"
PUBLISHED = "run.published"
CIRCUITS = "fpga.circuits"
RUN_OPTIONS = {
    HOST: Option("", "host that selects one of several clusters in a file (make variable GRIM_HOST)"),
    **BOARD_OPTIONS,
    FIRMWARE: WRITTEN_IN,
    **CORE_OPTIONS,
    CIRCUITS: Option(
        FILE,
        "circuits of FPGA cards: as the circuit file says, or all in SystemVerilog (rtl), or all in Python",
        choices=CIRCUIT_KINDS,
    ),
    "run.always_on": Option(0, "1 = clocks are never gated (same results, slower)", 0, 1),
    PUBLIC_EVAL: Option(0, "1 = use only Verilator's public eval() (same results, slower)", 0, 1),
    MONITORS: Option("", f"monitors of the run, separated by commas: {', '.join(KINDS)} (tb/monitors/README.md)"),
    "run.trace": Option(1, "0 = no trace", 0, 1),
    "run.trace_records": Option(1 << 26, "capacity of the trace in records", 1 << 10, 1 << 30),
    "run.packets_MB": Option(
        32, "capacity for the packets on the cables, in MB; later packets replace earlier ones", 0, 4096
    ),
    "fault.loss": Option(0.0, "probability that a packet is lost before it reaches a host, by seed", 0, 1),
    "fault.damage": Option(0.0, "probability that a bit of a packet is flipped before it reaches a host", 0, 1),
    "fault.reorder": Option(
        0.0, "probability that later packets overtake a packet before it reaches a host, by seed", 0, 1
    ),
    "fault.late_port": Option("", "port (spine0.2) of a switch or host into which packets are delayed by late_us"),
    "fault.late_us": Option(
        10, "delay of fault.late_port in us; packets on other routes overtake these packets", 1, 50
    ),
    INJECT: Option("", "faults, such as sram:metz:0xa010.5@41.5 (tb/campaign/README.md)"),
    "run.stuck_waves": Option(1, "0 = no second run with waves of the time around a hang", 0, 1),
    PUBLISHED: Option(0, "1 = the run fails if a metric disagrees with its published value", 0, 1),
    "run.hang_us": Option(1_000_000, "simulated time without events that counts as a hang, in us", 1, 10**9),
    "run.turn_s": Option(30, "CPU seconds of Python without simulated time that count as an endless loop", 1, 10**6),
    "run.limit_s": Option(0, "wall-clock seconds after which a run ends; 0: no limit", 0, 10**7),
}


@dataclass(frozen=True)
class Request:
    """Run of one study as requested by the user."""

    study: str
    simulator: str
    seed: int
    waves: bool
    cluster_file: str
    profile_name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of SET by key."""
    folder: str = ""
    """Folder of the results."""
    progress_fd: int = -1
    """File descriptor for progress reports of the simulator process, one JSON object a line; -1: none."""
    directory: str = ""
    """Directory of the command, to which file names in settings are relative."""
    window_ps: tuple[int, int | None] = (0, None)
    """Begin and end of the waves in ps; None: end of the run."""
    commits: Mapping[str, str] = field(default_factory=dict)
    """Git commit of each root (`tb.plan.provenance`)."""
    board: Mapping[str, str] = field(default_factory=dict)
    """Report of the board of the run (`tb.plan.on_board`); empty on the RTL, and before the connection to the board."""

    def save(self, path: Path) -> None:
        """Write the request for the simulator process."""
        path.write_text(json.dumps(self.__dict__, indent=1, default=dict), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Request:
        """Read a request."""
        return Request(**json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Plan:
    """Resolved request: cluster, profile with the settings in force, options of the study."""

    request: Request
    cluster: Cluster
    profile: Profile
    options: Mapping[str, float | str]
    in_c: frozenset[int] = frozenset()
    """Nodes whose NICs execute firmware in C from the beginning, by VNN."""
    cores: bool = False
    """True if NICs have processors that can execute firmware in C."""

    @property
    def settings(self) -> dict[str, float | str]:
        """Settings in force by key: profile, study, layers, run and faults."""
        profile = {key: value.value for key, value in self.profile.values.items()}
        return dict(sorted({**profile, **self.options}.items()))

    @property
    def monitored(self) -> bool:
        """True if the run has monitors, which are in a build of its own."""
        return bool(self.options[MONITORS])

    @property
    def given(self) -> tuple[str, ...]:
        """Sorted keys of the settings that the user gave."""
        return tuple(sorted(self.request.settings))

    @property
    def firmware(self) -> str:
        """Language of the NICs' firmware: `python`, `c`, or a word for each host; `none` for NICs without a
        processor.
        """
        if self.profile.nic.target is None:
            return "none"
        words = ["c" if vnn in self.in_c else "python" for vnn in range(len(self.cluster.hosts))]
        return words[0] if len(set(words)) == 1 else ",".join(words)


def plan(request: Request, info: StudyInfo) -> Plan:
    """Check a request against configuration, profile and study. Raises ConfigError with the nearest known word."""
    info = info.chosen(request.settings)
    settings = settings_in_force(request, info)
    cluster = _cluster(request, info, settings.get(HOST) or None)
    known = {**RUN_OPTIONS, **info.options}
    profile = load_profile(profile_of(request, cluster) or DEFAULT_PROFILE).override(settings, known)
    profile = with_board(profile, request.board)
    if not profile.rtl:
        what, cause = f"profile {profile.name!r} has no RTL yet", f"its NIC ({profile.kind}) is described but not built"
        raise ConfigError("PROFILE", 0, what, cause, f"use PROFILE={DEFAULT_PROFILE}")
    options = {
        name: option.parse(name, settings[name]) if name in settings else option.default
        for name, option in known.items()
    }
    if options[PUBLISHED]:
        _check_published(info.name, profile.name)
    check_board(request, cluster, profile)
    check_network(cluster, profile)
    sram = profile.nic.sram_ports is not None
    check_monitors(str(options[MONITORS]), info.design is None, profile.card.has_doorbells, sram)
    _check_faults(request, cluster, profile, options)
    cluster = _with_circuits(cluster, str(options[CIRCUITS]))
    understood = Plan(request, cluster, profile, options)
    check_layers(options, len(cluster.hosts), profile.integer("sram.bytes"), profile.card)
    held_by = links_held(options)
    if held_by and not info.cyclic_routes:
        check_routes(cluster.topology, cluster.routes, held_by=held_by)
    layers = stack(info.layers, options_by_layer(options))
    layer = layers[0] if layers else ""
    _check_compiled(layer, profile)
    for one in layers:
        check_host(one, profile)
        _check_composed(one, profile, options_by_layer(options).get(one, {}))
    in_c = nodes_in_c(options, layer, cluster.names, profile, info.needs)
    cores = bool(in_c) or (info.cores is not None and bool(guarded(info, info.cores, understood)))
    understood = replace(understood, in_c=in_c, cores=cores)
    if info.check is not None:
        guarded(info, info.check, understood)
    return understood


def _cluster(request: Request, info: StudyInfo, host: str | None) -> Cluster:
    """Return the cluster of a request. Raises ConfigError if it is too large, or too small for the study."""
    cluster = load_cluster(Path(request.cluster_file), host, allow_cycles=info.cyclic_routes)
    fpga_cards = sum(FPGA_CARD in host.cards for host in cluster.hosts)
    check_size(len(cluster.hosts), fpga_cards, len(cluster.topology.switches), cluster.file)
    if info.design is None and len(cluster.hosts) < info.hosts:
        cause = f"{info.name} needs at least {info.hosts} hosts"
        what = f"too few hosts: {len(cluster.hosts)}"
        raise ConfigError(cluster.file, 0, what, cause, "add hosts, or choose another CLUSTER")
    return cluster


def _check_published(study: str, profile: str) -> None:
    """Raise ConfigError if no published value can be compared with a run."""
    profiles = {row.profile for row in judged(study)}
    if not profiles & {profile, ANY}:
        cause = f"no published value belongs to the default run of {study} on profile {profile}"
        remedy = f"choose profiles as {' or '.join(sorted(profiles))}" if profiles else "leave it out"
        raise ConfigError("SET", 0, f"{PUBLISHED}=1 has no effect", cause, remedy)


def _with_circuits(cluster: Cluster, kind: str) -> Cluster:
    """Return a cluster with its circuits exchanged as `fpga.circuits` says. Raises ConfigError if one is missing."""
    if kind == FILE or not any(FPGA_CARD in host.cards for host in cluster.hosts):
        return cluster
    try:
        return replace(cluster, circuits=exchanged(cluster.circuits or EXAMPLE, kind))
    except SanlabError as error:
        raise ConfigError("SET", 0, f"{CIRCUITS}={kind}: {error.what}", error.cause, error.remedy) from error


def _check_faults(request: Request, cluster: Cluster, profile: Profile, options: Mapping[str, float | str]) -> None:
    """Raise ConfigError for a fault at an unknown place, or of an unknown or unsupported kind."""
    given = faults(str(options[INJECT]), cluster)
    lost = [str(one) for one in given if one.kind in OF_CARDS]
    if lost and profile.flag("fpga.bridge"):
        cause = "cards behind a bridge keep their power"
        raise ConfigError("SET", 0, f"{INJECT}={lost[0]}", cause, "leave fpga.bridge out")
    check_late(cluster, str(options["fault.late_port"]), "fault.late_us" in request.settings)


def _check_compiled(layer: str, profile: Profile) -> None:
    """Raise ConfigError if the study's message layer is not compiled for this NIC's processor."""
    if not layer or not has_program(layer):
        return
    try:
        PathTable.of_nic(layer, profile.nic.target)
    except CostError as error:
        what = f"{error.what} has no firmware for profile {profile.name!r}"
        others = [name for name in profile_names() if is_compiled(layer, load_profile(name).kind)]
        remedy = f"choose a profile whose NIC it supports, PROFILE={' or '.join(others)}" if others else error.remedy
        raise ConfigError("PROFILE", 0, what, error.cause, remedy) from None


def check_host(layer: str, profile: Profile) -> None:
    """Raise ConfigError if a layer's library is not compiled for the processor of the profile's host."""
    try:
        PathTable.of_host(layer, profile.host_target)
    except CostError as error:
        what = f"{error.what} has no library for profile {profile.name!r}"
        raise ConfigError("PROFILE", 0, what, error.cause, error.remedy) from None


def _check_composed(layer: str, profile: Profile, options: Mapping[str, float | str]) -> None:
    """Raise ConfigError for options that compose a layer of parts without compiled costs."""
    parts = composition(layer, options)
    try:
        PathTable.of_host(layer, profile.host_target, parts)
        if has_program(layer):
            PathTable.of_nic(layer, profile.nic.target, parts)
    except CostError as error:
        raise ConfigError("SET", 0, error.what, error.cause, error.remedy) from None


def resolve(
    study: str,
    simulator: str,
    seed: str,
    waves: bool,
    cluster: str,
    profile: str,
    settings: str,
    simulators: tuple[str, ...],
) -> Request:
    """Return a request from the arguments of the command line. Raises ConfigError for the first invalid argument.

    Args:
        study: Name of the study.
        simulator: Name of the simulator.
        seed: Seed as text.
        waves: True to write waves.
        cluster: Cluster file or folder; empty for the default.
        profile: Name of the hardware profile; empty for the default.
        settings: Settings as in SET.
        simulators: Known simulators.
    """
    if simulator not in simulators:
        remedy = nearest(simulator, simulators)
        raise ConfigError("SIM", 0, f"unknown simulator {simulator!r}", "SIM names the simulator", remedy)
    number = seed_of(seed)
    path = find_config(cluster or None, os.environ)
    config, given = str(path.resolve()), parse_settings(settings)
    if os.environ.get(HOST_VARIABLE):
        given.setdefault(HOST, os.environ[HOST_VARIABLE])
    return Request(
        study, simulator, number, waves, config, profile, given, directory=str(Path.cwd()), commits=commits()
    )
