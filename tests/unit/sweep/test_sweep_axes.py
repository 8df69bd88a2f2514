"""Axes and points of a sweep: what is typed becomes values, every combination a point, every point a key.

Strategy: ranges are compared with lists written by hand, mistakes with their whole message. Two points must have
equal keys exactly when their results must be equal: each part that a result follows from is changed once, and so is
what it does not follow from. Clusters of any number of hosts are read back by the reader of configurations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.config import load_cluster
from pymodels.config.generate import cluster_of_size
from pymodels.config.writer import CONFIG, write
from pymodels.errors import ConfigError
from pymodels.topology import TopologyError
from tb.plan import studies
from tb.plan.request import Request, resolve
from tb.sweep.axes import Axis, parse, points
from tb.sweep.points import Point, check, spread
from tb.tools.sources import ASIDE, aside

TB = Path(__file__).parents[3] / "tb"

KNOWN = {"hosts", "size", "pattern", "seed"}
INFO = studies.load("grim_streaming")


def base(settings: str = "") -> Request:
    return resolve("grim_streaming", "icarus", "1", False, "", "", settings, ("icarus",))


def one(place: Mapping[str, str], settings: str = "") -> Point:
    return spread(base(settings), INFO, [place])[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,4,8", "2 4 8"),
        ("0:65536:x16", "0 1 16 256 4096 65536"),
        ("3:20:x2", "3 6 12"),
        ("1:4", "1 2 3 4"),
        ("0:100:40,7,0", "0 40 80 7"),
        ("ring,all-to-all", "ring all-to-all"),
        ("a:b", "a:b"),
    ],
)
def test_axis_values_are_expanded(text: str, values: str) -> None:
    assert parse(f"size={text}", KNOWN) == (Axis("size", tuple(values.split())),)


def test_points_are_all_combinations_and_the_last_axis_changes_fastest() -> None:
    axes = parse("hosts=2,4 size=0:1", KNOWN)
    assert [tuple(point.values()) for point in points(axes)] == [("2", "0"), ("2", "1"), ("4", "0"), ("4", "1")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'no axis: a sweep needs at least one axis; write AXES="key=value,value ..."'),
        ("size", "invalid axis: 'size'; write key=value,value or key=first:last:step"),
        ("sise=1", "unknown key 'sise': not a setting of study, profile or run; did you mean 'size'?"),
        ("size=1 size=2", "size given twice: 'size=1 size=2'; keep one"),
        ("size=4:1", "empty range: size is from 4 to 1; put the smaller number first"),
        ("size=1:4:0", "endless range: size has '1:4:0'; step by at least 1, or multiply by at least 2"),
        ("size=1:4:x1", "endless range: size has '1:4:x1'; step by at least 1, or multiply by at least 2"),
        ("size=1:2:3:4", "invalid value: size has '1:2:3:4'; write first:last, first:last:step or first:last:xfactor"),
        ("size=1,,2", "invalid value: size has ''; write first:last, first:last:step or first:last:xfactor"),
        ("size=0:99999999", "too many points: size has '0:99999999'; use larger steps"),
        ("size=1:1000 hosts=1:1000", "too many points: 1,000,000 of at most 100,000; use larger steps or fewer axes"),
        ("size='1", 'unclosed quotation mark: "size=\'1"; close it, or write \\ before it'),
    ],
)
def test_an_invalid_axis_is_rejected(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, KNOWN)
    assert str(error.value) == f"AXES: {said}"


def test_axes_become_hosts_seed_profile_and_settings() -> None:
    point = one({"hosts": "5", "seed": "7", "profile": "lanai9+p2-300", "size": "16"}, "messages=10")
    assert (point.seed, point.profile) == (7, "lanai9+p2-300")
    assert point.settings == {"messages": "10", "size": "16"}
    assert point.name == "hosts=5 seed=7 profile=lanai9+p2-300 size=16"


def test_the_request_of_a_point_needs_no_file_but_its_own(tmp_path: Path) -> None:
    request = one({"size": "16"}).request(tmp_path)
    assert load_cluster(Path(request.cluster_file)).names == ("paris", "metz")
    assert Path(request.cluster_file).is_relative_to(tmp_path)
    assert len(load_cluster(Path(one({"hosts": "5"}).request(tmp_path / "5").cluster_file)).hosts) == 5


def test_a_key_depends_only_on_the_content() -> None:
    point = one({"size": "16"})
    assert one({}, "size=16").key == point.key
    assert replace(point, directory="elsewhere", axes={}).key == point.key
    others = [
        one({"size": "17"}),
        one({"size": "16", "seed": "2"}),
        one({"size": "16", "hosts": "2"}),
        one({"size": "16", "profile": "lanai9+p2-300"}),
        replace(point, simulator="verilator"),
        replace(point, sources="changed"),
        replace(point, study="grim_pingpong"),
    ]
    assert len({point.key, *(other.key for other in others)}) == 1 + len(others)


def test_runs_import_no_folder_outside_of_the_key() -> None:
    running = [
        path
        for path in TB.rglob("*.py")
        if not aside(path.relative_to(TB.parent)) and TB / "sanlab" not in path.parents
    ]
    found = [
        (path.relative_to(TB).as_posix(), module)
        for path in running
        for module in re.findall(r"^\s*(?:from|import) tb\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if module in ASIDE
    ]
    assert found == []


def test_a_file_that_a_setting_names_is_part_of_the_content(tmp_path: Path) -> None:
    info, file = studies.load("grim_transfer"), tmp_path / "data"
    keys = []
    for text in ("one", "two", "one"):
        file.write_text(text, encoding="utf-8")
        asked = resolve("grim_transfer", "icarus", "1", False, "", "", f"file={file}", ("icarus",))
        keys.append(spread(asked, info, [{}])[0].key)
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (
            {"size": "many"},
            "invalid point size=many: SET: wrong type: size is 'many'; give a whole number (bytes); leave it out",
        ),
        ({"pattern": "star"}, "invalid point pattern=star: SET: unknown word: pattern is 'star'; "),
        ({"profile": "lanai8"}, "invalid point profile=lanai8: PROFILE: unknown profile: "),
    ],
)
def test_an_invalid_point_is_rejected_before_any_runs(place: Mapping[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        check([one({"size": "1"}), one(place)], INFO)
    assert str(error.value).startswith(f"AXES: {said}")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"hosts": "1"}, "AXES: value out of range: hosts is 1; give 2 or more"),
        ({"hosts": "two"}, "AXES: wrong type: hosts is 'two'; give a whole number"),
        ({"seed": "x"}, "AXES: wrong type: seed is 'x'; give a whole number"),
        ({"messages": "3"}, "AXES: messages given twice: SET has it too; keep one"),
    ],
)
def test_an_invalid_axis_value_is_rejected(place: Mapping[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        one(place, "messages=10")
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("count", "switches"), [(2, [4]), (4, [4]), (5, [8]), (16, [16]), (17, [8] * 9), (33, [16] * 9)]
)
def test_hosts_are_on_one_switch_or_on_a_clos_network(count: int, switches: list[int], tmp_path: Path) -> None:
    cluster = load_cluster(write(cluster_of_size(count), tmp_path, "drawn"))
    assert len(cluster.hosts) == count
    assert [switch.ports for switch in cluster.topology.switches] == switches
    assert (tmp_path / CONFIG).is_file()


def test_more_hosts_than_the_largest_clos_network_are_rejected() -> None:
    assert len(cluster_of_size(128).hosts) == 128
    with pytest.raises(TopologyError, match="129 hosts"):
        cluster_of_size(129)
