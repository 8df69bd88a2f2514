"""Requests of runs on a board: settings that take effect there, and reasons for all others.

The board's bitstream holds the hardware with all values of its profile. What software decides can be chosen: options of
the study and its layer, and how the run is watched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from pymodels.config import Cluster
from pymodels.errors import ConfigError
from pymodels.hardware.schema import Origin
from pymodels.hardware.value import Value
from pymodels.options import SETTING
from pymodels.profiles.profile import Profile, board_profile, parse_settings
from pymodels.topology import End
from tb.plan.firmware import FIRMWARE, C
from tb.plan.options import Option
from tb.plan.studies import StudyInfo, load, names

WHERE, PORT, FOLDER, PATIENCE = "run.on", "run.port", "run.board", "run.patience_s"
LIMIT, LIMIT_S = "run.limit_s", "1800"
"""Wall-clock limit of a run on a board, which may answer for ever without an end of the study."""
RTL, BOARD = "rtl", "board"
OPTIONS = {
    WHERE: Option(RTL, "hardware in the loop: rtl in a simulator, or a board behind run.port", choices=(RTL, BOARD)),
    PORT: Option("", "port of the board: a device such as /dev/ttyUSB0, or tcp:<host>:<port>"),
    FOLDER: Option("", "folder of the board's bitstream with its board.json; empty: found by what the board reports"),
    PATIENCE: Option(10, "seconds without an answer of the board that end a run", 1, 3600),
}
"""Settings of a run that concern boards."""
EFFECTIVE = frozenset(
    (*OPTIONS, FIRMWARE, "run.host", "run.trace", "run.hang_us", "run.turn_s", LIMIT, "run.stuck_waves")
)
"""Settings of every run with an effect on a board."""
NO_SIMULATOR = "a board has no simulator"
OF_PC = "host software runs on the PC and takes the time that it takes there"
REASONS: Mapping[str, str] = {
    "run": NO_SIMULATOR,
    "core": "a board's processors record no instructions",
    "fault": "a board injects no faults",
    "host": OF_PC,
    "memory": "a board's host memory has the size of its block RAM",
    "sram": "a board's SRAM has the size of its block RAM",
    "clock": "a board's clocks are set by its bitstream",
}
"""Reasons for settings without effect, by group; all others are values of the bitstream."""
IN_BITSTREAM = "the value is fixed in the board's bitstream"
REPORTED = "the board reports it"
"""Source of the profile values that a board reports."""


class Asked(Protocol):
    """Part of a request that decides what runs on a board."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Settings of SET by key."""

    @property
    def board(self) -> Mapping[str, str]:
        """Report of the board: names and sizes, and profile values by key; empty before the connection."""

    @property
    def profile_name(self) -> str:
        """Profile that the user has named."""

    @property
    def waves(self) -> bool:
        """True to write waves."""


def on_board(settings: Mapping[str, str]) -> bool:
    """Return True if a run with these settings uses a board. Raises ConfigError for an unknown word."""
    return OPTIONS[WHERE].parse(WHERE, settings.get(WHERE, RTL)) == BOARD


def studies_on_board() -> list[str]:
    """Return the names of the studies that can run on a board."""
    return [name for name in names() if load(name).on_board is not None]


def settings_in_force(request: Asked, info: StudyInfo) -> dict[str, str]:
    """Return the settings of a request, on a board with those of the study for boards.

    Raises ConfigError for a request that no board can satisfy.
    """
    given = dict(request.settings)
    if not on_board(given):
        if PORT in given:
            remedy = f"add {WHERE}={BOARD}, or leave it out"
            raise ConfigError(SETTING, 0, f"{PORT} without effect", "the run is on the RTL", remedy)
        return given
    _check(request, info)
    return {FIRMWARE: C, LIMIT: LIMIT_S, **parse_settings(info.on_board or ""), **given}


def profile_of(request: Asked, cluster: Cluster) -> str:
    """Return the profile of a request: the user's, the board's, that of the cluster, or none."""
    own = request.board.get("profile") or board_profile() if on_board(request.settings) else cluster.profile
    return request.profile_name or own or ""


def with_board(profile: Profile, board: Mapping[str, str]) -> Profile:
    """Return a profile with the values that a board reports (`Asked.board`); unchanged on the RTL."""
    found = {key: int(text) for key, text in board.items() if key in profile.values}
    keys = profile.keys
    values = {key: Value(value, keys[key].unit, Origin.FACT, REPORTED) for key, value in found.items()}
    return replace(profile, values={**profile.values, **values})


def _check(request: Asked, info: StudyInfo) -> None:
    """Raise ConfigError for what no board has."""
    given = request.settings
    if not given.get(PORT):
        remedy = f"name the port of the board, {PORT}=/dev/ttyUSB0 or {PORT}=tcp:localhost:4000"
        raise ConfigError(SETTING, 0, f"{PORT} missing", f"{WHERE}={BOARD} needs the port of a board", remedy)
    if info.on_board is None:
        cause = "it uses what only a simulator has: its trace of software, faults, or other NICs"
        remedy = f"run it on the RTL, or choose one of {', '.join(studies_on_board())}"
        raise ConfigError("STUDY", 0, f"{info.name} cannot run on a board", cause, remedy)
    if request.waves:
        cause = "a board records events in its trace ring, no signals"
        raise ConfigError("WAVES", 0, "no waves of a board", cause, "leave it out, or run on the RTL")
    words = [word.strip() for word in given.get(FIRMWARE, C).split(",")]
    if any(word != C for word in words):
        cause = f"{FIRMWARE} is {given[FIRMWARE]!r}, but a board's NICs execute firmware, which Python is not"
        raise ConfigError(
            SETTING, 0, "no firmware in Python on a board", cause, f"use {FIRMWARE}={C}, or run on the RTL"
        )
    _check_effective(given, info)


def _check_effective(given: Iterable[str], info: StudyInfo) -> None:
    """Raise ConfigError for the first setting that has no effect on a board."""
    for name in given:
        if name not in EFFECTIVE and name not in info.options:
            reason = REASONS.get(name.partition(".")[0], IN_BITSTREAM)
            raise ConfigError(
                SETTING, 0, f"{name} has no effect on a board", reason, "leave it out, or run on the RTL (run.on=rtl)"
            )


def check_board(request: Asked, cluster: Cluster, profile: Profile) -> None:
    """Raise ConfigError if the cluster of a run on a board is not that of the board.

    Does nothing before the connection to the board.
    """
    if not on_board(request.settings) or not request.board:
        return
    nodes, kind = int(request.board["nodes"]), request.board["kind"]
    if nodes == 1:
        cause = f"the board {request.board['name']} has one host, and a study needs two"
        remedy = "use a board with two nodes and a switch, or write a program for this one (tb/board/README.md)"
        raise ConfigError(cluster.file, 0, "no second host", cause, remedy)
    if profile.kind != kind:
        what, cause = f"profile {profile.name!r}", f"its NIC is {profile.kind}, and the board has {kind}"
        raise ConfigError("PROFILE", 0, what, cause, f"leave PROFILE out, or use PROFILE={request.board['profile']}")
    hosts = cluster.topology.hosts
    if len(hosts) > nodes:
        cause = f"the board {request.board['name']} has {nodes} nodes"
        raise ConfigError(cluster.file, 0, f"{len(hosts)} hosts", cause, "use a smaller cluster, or a larger board")
    switch = cluster.topology.switches[0].name
    wanted = [End(switch, port) for port in range(len(hosts))]
    if len(cluster.topology.switches) > 1 or [cluster.topology.attachment(host) for host in hosts] != wanted:
        cause = "a board has one switch with its nodes at ports 0, 1, ..."
        raise ConfigError(cluster.file, 0, "another network than the board's", cause, "use CLUSTER=two_hosts")
