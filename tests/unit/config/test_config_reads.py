"""Reading of valid configurations.

Strategy: the paper's example is read as printed, then varied one line at a time: several clusters, fewer nodes, given
and computed routes, topology lines, comments. The result is compared with the lines. Random clusters are written as
files and must be read back equal. All example clusters are read.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodels.builders import cascade, clos, host_names, single_switch, tree
from pymodels.config import (
    Circuit,
    Cluster,
    Connection,
    Host,
    QueueRequest,
    examples,
    find_config,
    load_cluster,
    render,
    write,
)
from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.routes import Routes
from pymodels.topology import End, Switch, Topology
from pymodels.updown import up_down
from tests.unit.config.configfiles import AS_PRINTED, FILES, put, swapped


def test_example_parses_as_printed(tmp_path: Path) -> None:
    cluster = load_cluster(put(tmp_path))
    assert cluster.name == "French_cluster"
    assert cluster.hosts == (Host("paris", 0, 0, ("MYRI", "CELOXICA")), Host("metz", 1, 1, ("MYRI",)))
    assert cluster.topology.switches == (Switch("s0", 4),)
    assert cluster.routes.table == {("paris", "metz"): b"\x81", ("metz", "paris"): b"\xbf"}
    assert not cluster.routes.computed
    assert cluster.circuits == (Circuit("video.bit", 0, "fir16"), Circuit("video.bit", 1, "histogram"))


def test_network_card_takes_slot_zero() -> None:
    host = Host("paris", 0, 0, ("CELOXICA", "MYRI"))
    assert (host.slot("MYRI"), host.slot("CELOXICA")) == (0, 1)


def test_comments_braces_and_spaces_are_ignored(tmp_path: Path) -> None:
    noisy = "{\n" + AS_PRINTED.replace("HOST metz", "\tHOST   metz { !-- the second USE NOTHING") + "}}\n"
    assert load_cluster(put(tmp_path, grim_config=noisy)).hosts == load_cluster(put(tmp_path)).hosts


def test_lcp_file_supplies_the_routes_of_a_cluster_without_a_routes_file(tmp_path: Path) -> None:
    text = "LCP_FILE grim_routes_myri.txt\n" + AS_PRINTED.replace("ROUTING_MYRI     grim_routes_myri.txt", "")
    assert not load_cluster(put(tmp_path, grim_config=text)).routes.computed


def test_routes_are_computed_if_requested_or_if_no_file_is_named(tmp_path: Path) -> None:
    without = AS_PRINTED.replace("ROUTING_MYRI     grim_routes_myri.txt", "")
    given = load_cluster(put(tmp_path)).routes
    for text in (without, "LCP_FILE absent\n" + without + "ROUTES COMPUTED\n"):
        routes = load_cluster(put(tmp_path, grim_config=text)).routes
        assert routes.computed
        assert routes.table == given.table


def test_num_nodes_selects_the_first_hosts(tmp_path: Path) -> None:
    text = "NUM_NODES 2\n" + AS_PRINTED + "HOST lyon\nUSE MYRI\n"
    routes = "0 1:81 2:82\n1 0:BF 2:81\n2 0:BE 1:BF\n"
    path = put(tmp_path, grim_config=text, hosts="paris 0\nmetz 1\nlyon 2\n", **{"grim_routes_myri.txt": routes})
    cluster = load_cluster(path)
    assert cluster.names == ("paris", "metz")
    assert len(cluster.topology.links) == 2
    assert len(cluster.routes.table) == 2


def test_host_name_chooses_the_cluster(tmp_path: Path) -> None:
    other = "CLUSTER American_cluster\nHOST_MAP_MYRI america\nHOST austin\nUSE MYRI\nHOST dallas\nUSE MYRI\n"
    path = put(tmp_path, grim_config=AS_PRINTED + other, america="austin 3\ndallas 2\n")
    assert load_cluster(path, "metz").name == "French_cluster"
    american = load_cluster(path, "dallas")
    assert american.name == "American_cluster"
    assert [(h.vnn, h.pnn) for h in american.hosts] == [(0, 3), (1, 2)]


def test_vnn_follows_the_file_and_pnn_the_port(tmp_path: Path) -> None:
    network = "HOST_MAP_MYRI hosts\nSWITCH a 8\nSWITCH b 4\nLINK a 7 b 0 2.5\nLINK metz 0 b 2 10\n"
    config = AS_PRINTED.replace("ROUTING_MYRI     grim_routes_myri.txt", "").replace("    USE CELOXICA\n", "")
    cluster = load_cluster(
        put(tmp_path, grim_config=config, hosts="paris 3\n", **{"French_cluster_config.txt": network})
    )
    assert [(h.name, h.vnn, h.pnn) for h in cluster.hosts] == [("paris", 0, 3), ("metz", 1, 10)]
    assert cluster.topology.attachment("metz") == End("b", 2)
    assert [link.metres for link in cluster.topology.links] == [2.5, 10.0, None]
    assert cluster.routes_from(0) == {1: bytes([0x84, 0x82])}


def test_routes_may_name_hosts(tmp_path: Path) -> None:
    path = put(tmp_path, **{"grim_routes_myri.txt": "metz paris:bf\nparis metz:0x81\n"})
    assert load_cluster(path).routes_from(1) == {0: b"\xbf"}


def test_unused_hosts_of_the_map_are_ignored(tmp_path: Path) -> None:
    routes = "0 1:81 2:82\n1 0:BF\n2 0:FF\n"
    path = put(tmp_path, hosts="paris 0\nmetz 1\nlyon 2\n", **{"grim_routes_myri.txt": routes})
    assert load_cluster(path).names == ("paris", "metz")


def test_cyclic_routes_are_accepted_with_allow_cycles(tmp_path: Path) -> None:
    names = "abc"
    config = "CLUSTER ring\nROUTING_MYRI routes\n" + "".join(
        f"HOST {n}\nUSE MYRI\nLINK {n} 0 s{n} 0\nSWITCH s{n} 4\n" for n in names
    )
    config += "LINK sa 3 sb 2\nLINK sb 3 sc 2\nLINK sc 3 sa 2\n"
    routes = "a b:83.BE c:83.81.BE\nb c:83.BE a:83.81.BE\nc a:83.BE b:83.81.BE\n"
    path = put(tmp_path, grim_config=config, routes=routes)
    assert len(load_cluster(path, allow_cycles=True).routes.table) == 6


def test_cards_are_found_by_kind_and_by_vnn(tmp_path: Path) -> None:
    cluster = load_cluster(put(tmp_path))
    assert [h.name for h in cluster.having("CELOXICA")] == ["paris"]
    assert [h.name for h in cluster.having("MYRI")] == ["paris", "metz"]
    with pytest.raises(SanlabError) as error:
        cluster.having("CELOXICA", 1)
    assert str(error.value) == (
        "resource not in use: host 1 of cluster 'French_cluster' uses 'CELOXICA'; in use: CELOXICA, MYRI"
    )
    with pytest.raises(SanlabError) as error:
        cluster.having("I2O")
    assert (
        str(error.value)
        == "resource not in use: no host of cluster 'French_cluster' uses 'I2O'; in use: CELOXICA, MYRI"
    )
    with pytest.raises(SanlabError) as error:
        cluster.host("mets")
    assert str(error.value) == "unknown host: 'mets' is not in cluster 'French_cluster'; did you mean 'metz'?"
    assert cluster.host("metz").vnn == 1


def test_table_and_description_list_the_hosts(tmp_path: Path) -> None:
    cluster = load_cluster(put(tmp_path))
    assert cluster.table().splitlines() == [
        "cluster French_cluster: 2 hosts, 1 switches",
        "  VNN   0  PNN   0  paris            MYRI CELOXICA",
        "  VNN   1  PNN   1  metz             MYRI",
    ]
    assert cluster.describe() == {
        "name": "French_cluster",
        "hosts": ["paris", "metz"],
        "switches": {"s0": 4},
        "links": 2,
        "routes": "given",
    }


def test_queue_requests_of_the_cluster_reach_its_hosts(tmp_path: Path) -> None:
    text = swapped("grim_config", "HOST metz", "HOST metz\n QUEUE_SIZE MYRI 4096")["grim_config"]
    text = text.replace(
        "HOST paris", "QUEUE_SIZE MYRI 0x800\nQUEUE_SIZE HOST 65536\nQUEUE_SIZE CELOXICA 128\nHOST paris"
    )
    paris, metz = load_cluster(path := put(tmp_path, grim_config=text)).hosts
    assert [(q.resource, q.size) for q in paris.queues] == [("MYRI", 2048), ("HOST", 65536), ("CELOXICA", 128)]
    assert metz.queues == (QueueRequest("MYRI", 4096, f"{path}:14"), QueueRequest("HOST", 65536, f"{path}:7"))


def test_channel_lines_of_a_host_replace_those_of_the_cluster(tmp_path: Path) -> None:
    own = "HOST metz\nCHANNEL 2 PROCESS viewer\nCHANNEL 4 PROCESS x"
    text = AS_PRINTED.replace("HOST metz", own).replace(
        "HOST paris", "CHANNEL 3 PROCESS viewer\nCHANNEL 4 HOST\nHOST paris"
    )
    resources = FILES["French_cluster_config.txt"] + "CHANNEL 1 CELOXICA\nCHANNEL 5 HOST\n"
    path = put(tmp_path, grim_config=text, **{"French_cluster_config.txt": resources})
    cluster = load_cluster(path)
    paris, metz = cluster.hosts
    assert [str(one) for one in paris.channels] == ["1 CELOXICA", "3 PROCESS viewer", "4 HOST", "5 HOST"]
    assert [str(one) for one in metz.channels] == ["2 PROCESS viewer", "4 PROCESS x", "5 HOST"]
    assert metz.channels[0] == Connection(2, "PROCESS", "viewer", f"{path}:13")
    assert paris.channels[0].place == f"{tmp_path / 'French_cluster_config.txt'}:3"
    assert "    CHANNEL 3 PROCESS viewer" in cluster.table()
    assert load_cluster(put(tmp_path)).hosts[0].channels == ()


def test_channel_lines_are_written_and_read_back(tmp_path: Path) -> None:
    drawn = as_cluster(clos(host_names(2), 8, None), False)
    channels = (Connection(1, "PROCESS", "viewer", ""), Connection(2, "HOST", "", ""))
    hosts = (replace(drawn.hosts[0], channels=channels), drawn.hosts[1])
    read = load_cluster(write(replace(drawn, hosts=hosts), tmp_path / "written", "A drawn network"))
    assert [[str(one) for one in host.channels] for host in read.hosts] == [["1 PROCESS viewer", "2 HOST"], []]


def as_cluster(topology: Topology, computed: bool) -> Cluster:
    hosts = tuple(
        Host(name, vnn, topology.running_port(topology.attachment(name)), ("MYRI",))
        for vnn, name in enumerate(topology.hosts)
    )
    return Cluster("drawn", "", hosts, topology, Routes(up_down(topology).table, computed), "lanai9")


@settings(max_examples=30)
@given(
    build=st.sampled_from([clos, tree]),
    count=st.integers(1, 20),
    metres=st.none() | st.just(7.5),
    computed=st.booleans(),
)
def test_a_random_cluster_is_read_back_from_its_files(
    tmp_path_factory: pytest.TempPathFactory, build: type[Topology], count: int, metres: float | None, computed: bool
) -> None:
    drawn = as_cluster(build(host_names(count), 8, metres), computed)  # type: ignore[arg-type]
    path = write(drawn, tmp_path_factory.mktemp("drawn"), "A drawn network")
    read = load_cluster(path)
    assert set(read.topology.links) == set(drawn.topology.links)
    same = replace(read.topology, links=drawn.topology.links)
    assert replace(read, file="", topology=same) == drawn


def test_files_are_written_into_a_new_folder_and_replace_older_ones(tmp_path: Path) -> None:
    folder = tmp_path / "networks" / "four"
    for count in (2, 4):
        drawn = as_cluster(clos(host_names(count), 8, None), False)
        assert load_cluster(write(drawn, folder, "A drawn network")).names == drawn.names


def test_examples_have_the_networks_of_their_names() -> None:
    clusters = {name: load_cluster(find_config(name, {})) for name in examples()}
    assert clusters["two_hosts"].names == ("paris", "metz")
    sizes = {"clos16": 16, "clos64": 64, "eight_hosts": 8, "four_hosts": 4, "fourteen_hosts": 14, "two_cards": 2}
    assert {name: len(clusters[name].hosts) for name in sizes} == sizes
    assert set(clusters["clos16"].topology.links) == set(clos(host_names(16), 8).links)
    assert clusters["clos16"].routes == up_down(clos(host_names(16), 8))
    eight = clusters["eight_hosts"]
    assert eight.topology == single_switch(eight.names, 8)
    fourteen = clusters["fourteen_hosts"]
    assert set(fourteen.topology.links) == set(cascade(host_names(14), 8).links)
    assert (eight.profile, fourteen.profile) == ("lanai9", "sp")


def test_committed_examples_equal_the_output_of_the_writer() -> None:
    for name, title in (
        ("eight_hosts", "Eight hosts on one 8-port switch"),
        ("four_hosts", "Four hosts on one 8-port switch"),
        ("fourteen_hosts", "Fourteen hosts on two cascaded 8-port SP switches"),
        ("clos16", "Sixteen hosts on a Clos network of six 8-port switches"),
        (
            "sp_board",
            "Eight hosts on a switch board of the SP: four node chips, four link chips, four routes a pair",
        ),
    ):
        folder = find_config(name, {}).parent
        files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
        assert files == render(load_cluster(folder / "grim_config"), title)


def test_configuration_is_found_by_file_folder_name_or_variable(tmp_path: Path) -> None:
    path = put(tmp_path)
    assert find_config(str(path), {}) == path
    assert find_config(str(tmp_path), {}) == path
    assert find_config(None, {"GRIM_CONFIG": str(path)}) == path
    assert find_config("clos16", {"GRIM_CONFIG": str(path)}).parent.name == "clos16"
    assert find_config(None, {}).parent.name == "two_hosts"


@pytest.mark.parametrize(
    ("name", "variables", "text"),
    [
        (
            "two_host",
            {},
            "CLUSTER: unknown cluster: 'two_host' is neither a file nor an example; did you mean 'two_hosts'?",
        ),
        (
            None,
            {"GRIM_CONFIG": "/nowhere"},
            f"GRIM_CONFIG: unknown cluster: '/nowhere' is neither a file nor an example; "
            f"{nearest('/nowhere', examples())}",
        ),
    ],
)
def test_unknown_cluster_is_rejected(name: str | None, variables: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError) as error:
        find_config(name, variables)
    assert str(error.value) == text
