"""The configuration file, as a run and `grim_enable` read it.

Strategy: a file has two clusters, and the name of a host selects one, by the make variable or the setting.
`grim_enable` reads files that are valid, invalid, or different from those that the NIs were started with.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from firmware.grim.formats import Device
from firmware.grim.host import ANY_VNN, Grim, GrimError
from firmware.grim.host.enable import Phase
from pymodels.config.find import HOST_VARIABLE
from pymodels.errors import ConfigError
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.tools.paths import SIMULATORS
from tests.unit.grim.grim_bench import Bench

TWO = """\
CLUSTER first
HOST paris
    USE MYRI
HOST metz
    USE MYRI
LINK paris 0 s0 0
LINK metz 0 s0 1
CLUSTER second
HOST host0
    USE MYRI
    QUEUE_SIZE MYRI 40000
HOST host1
    USE MYRI
    USE FRAME_BUFFER
LINK host0 0 switch 6
LINK host1 0 switch 2
SWITCH switch 8
"""


def write_configuration(folder: Path, text: str = TWO) -> Path:
    """Write a configuration file."""
    file = folder / "grim_config"
    file.write_text(text, encoding="utf-8")
    return file


def chosen_hosts(file: Path, settings: str = "") -> tuple[str, ...]:
    """Return the hosts of the cluster that a run with this file selects."""
    request = resolve("grim_pingpong", "verilator", "1", False, str(file), "", settings, SIMULATORS)
    return plan(request, studies.load("grim_pingpong")).cluster.names


@pytest.mark.parametrize(("host", "names"), [("metz", ("paris", "metz")), ("host0", ("host0", "host1"))])
def test_a_host_chooses_its_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, names: tuple[str, ...]
) -> None:
    file = write_configuration(tmp_path)
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    assert chosen_hosts(file, f"run.host={host}") == names
    monkeypatch.setenv(HOST_VARIABLE, host)
    assert chosen_hosts(file) == names
    other = "paris" if names[0] == "host0" else "host1"
    assert other in chosen_hosts(file, f"run.host={other}"), "the setting goes before the variable"


def test_ambiguous_cluster_without_a_host_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    with pytest.raises(ConfigError, match="which cluster: the file has 2 clusters .*; name a host .* by GRIM_HOST"):
        chosen_hosts(write_configuration(tmp_path))
    with pytest.raises(ConfigError, match="unknown host: 'pars' is in no CLUSTER of this file; did you mean 'paris'"):
        chosen_hosts(write_configuration(tmp_path), "run.host=pars")


def bench_reading(file: Path) -> Bench:
    """Return two nodes whose `grim_enable` reads a file."""
    bench = Bench(2)
    hosts = [bench.machine.host(node) for node in range(2)]
    views = [replace(view, config=str(file)) for view in bench.views]
    bench.libraries = [Grim(host, view) for host, view in zip(hosts, views, strict=True)]
    return bench


def test_grim_enable_reads_the_cluster_of_its_host(tmp_path: Path) -> None:
    async def node(library: Grim, me: int) -> None:
        assert library.get_resource(ANY_VNN, Device.FRAME_BUFFER) >> 24 == 1
        assert [line.split()[3] for line in library.vnn_configuration().splitlines()] == ["6", "2"]

    bench_reading(write_configuration(tmp_path)).run(node)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("USE FRAME_BUFFER", "USE FRAME_BUFER", "grim_config:14: unknown resource: 'FRAME_BUFER'"),
        ("HOST host0", "HOST host7", "grim_config: unknown host: 'host0' is in no CLUSTER of this file"),
        ("SWITCH switch 8", "", "grim_config:15: unknown host or switch: LINK names 'switch'"),
    ],
)
def test_mistakes_in_the_files_are_errors_of_grim_enable(tmp_path: Path, old: str, new: str, message: str) -> None:
    library = (bench := bench_reading(write_configuration(tmp_path, TWO.replace(old, new)))).libraries[0]
    with pytest.raises(ConfigError) as caught:
        bench.machine.finish(library.grim_enable())
    assert message in str(caught.value)
    assert library.phase == Phase.CONFIGURATION


def test_cluster_other_than_that_of_the_nis_is_rejected(tmp_path: Path) -> None:
    more = "HOST host2\n    USE MYRI\nLINK host2 0 switch 3\nLINK host0"
    bench = bench_reading(write_configuration(tmp_path, TWO.replace("LINK host0", more, 1)))
    with pytest.raises(GrimError, match="^configuration: .* lists hosts host0, host1, host2 in cluster 'second'"):
        bench.machine.finish(bench.libraries[0].grim_enable())
