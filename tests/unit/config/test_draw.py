"""Regular clusters of `make cluster`: the written files load, have the requested shape, and cannot deadlock.

Strategy: clusters of each shape, full and partly filled, are written and loaded again, which checks cables and routes.
Numbers of switches and cables and longest routes are compared with hand counts. Each error text is compared, and no
file is left.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pymodels.builders import fat_tree, host_names, ring, torus
from pymodels.config import load_cluster
from pymodels.topology import TopologyError
from tb.plan.draw import main
from tb.tools.paths import ROOT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("clos 24 8", "24 hosts on a Clos network of 10 8-port switches, 48 cables, routes of at most 3 switches"),
        ("fat_tree 16 4", "16 hosts on a fat tree of 20 4-port switches, 48 cables, routes of at most 5 switches"),
        ("fat_tree 6 4", "6 hosts on a fat tree of 10 4-port switches, 22 cables, routes of at most 5 switches"),
        ("ring 12 4", "12 hosts on a ring of 6 4-port switches, 18 cables, routes of at most 5 switches"),
        ("torus 36 8", "36 hosts on a torus of 9 8-port switches, 54 cables, routes of at most 3 switches"),
    ],
)
def test_a_written_cluster_has_its_shape_and_loads(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape, hosts, ports = words.split()
    assert main(["--shape", shape, "--hosts", hosts, "--ports", ports, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{said}, deadlock-free"
    assert len(load_cluster(tmp_path / "grim_config").hosts) == int(hosts)


def test_a_fat_tree_has_as_many_cables_between_levels_as_hosts() -> None:
    links = fat_tree(host_names(64), 8).links
    kinds = Counter((link.a.node[:2], link.b.node[:2]) for link in links)
    assert kinds == {("no", "ed"): 64, ("ed", "up"): 64, ("up", "co"): 64}


def test_in_a_torus_each_switch_has_four_neighbours_and_in_a_ring_two() -> None:
    for topology, around in ((torus(host_names(60), 16), 4), (ring(host_names(60), 16), 2)):
        hosts = {link.a for link in topology.links if topology.is_host(link.a.node)}
        for switch in topology.switches:
            others = [end for end in topology.cabled(switch.name) if topology.peers[end] not in hosts]
            assert len(others) == around, switch


def test_a_torus_of_switches_with_four_ports_has_no_port_for_hosts() -> None:
    with pytest.raises(TopologyError, match="no port for hosts: 4 of a switch's 4 ports lead to other switches"):
        torus(host_names(4), 4)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ("--shape=claw", "SHAPE: unknown shape 'claw': SHAPE is one of clos, fat_tree, ring, torus; did you mean"),
        ("--hosts=1", "HOSTS: value out of range: HOSTS is 1; 2 to 1024"),
        ("--hosts=many", "HOSTS: not a number: HOSTS is 'many'; give a whole number"),
        ("--ports=12", "PORTS: value out of range: PORTS is 12; switches have 4 or 8 or 16 ports"),
        ("--hosts=40 --ports=8", "more hosts than ports: 40 hosts, but leaf and spine of 8-port switches takes 32"),
    ],
)
def test_an_impossible_cluster_is_rejected_and_nothing_is_written(
    words: str, refusal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words.split(), f"--out={tmp_path / 'here'}"]) == 2
    assert refusal in capsys.readouterr().err
    assert not (tmp_path / "here").exists()


def test_the_example_of_64_hosts_equals_the_output_of_the_command(tmp_path: Path) -> None:
    assert main(["--shape=clos", "--hosts=64", "--ports=16", f"--out={tmp_path}"]) == 0
    example = ROOT / "pymodels" / "clusters" / "clos64"
    assert {p.name: p.read_text(encoding="utf-8") for p in example.iterdir()} == {
        p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()
    }
