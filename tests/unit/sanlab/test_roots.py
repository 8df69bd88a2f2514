"""Layers, studies, profiles, clusters, NICs and HDL of another root are found like those of this tree.

Strategy: a root is written to a folder, with one file of each kind. A fresh process loads all of them, with the root
named by SANLAB_PATH, relative or not, or by a package with an entry point. An invalid root, or a name that occurs
twice, is an error of the command line. The key of a sweep's point follows from every file of a root, and from the files
that those import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from pymodels.roots import TREE, check
from tb.plan import studies
from tb.plan.request import resolve
from tb.sanlab.tree import START
from tb.sweep import points
from tb.sweep.points import sources_digest, spread

FILES = {
    "firmware/theirs/host/__init__.py": "from . import parts\ndef open_layer(host, view): ...\n",
    "firmware/theirs/layer.py": "from firmware.layer import Layer\nfrom firmware.theirs.host import open_layer\n"
    "LAYER = Layer(name='theirs', library=open_layer)\n",
    "firmware/theirs/host/parts.py": "import so_helper\n",
    "firmware/theirs/host/costs.toml": "",
    "tb/studies/theirs/theirs.py": '"""What is theirs?"""\nLAYER = "theirs"\nasync def run(lab): ...\n',
    "pymodels/profiles/theirs.toml": 'kind = "ring"\n',
    "pymodels/clusters/my_hosts/grim_config": "",
    "pymodels/nics/ring/kind.py": 'KIND = "a ring"\n',
    "hdl/sources.f": "hdl/nic/ring/\n",
    "hdl/nic/ring/ring_card.sv": "module ring_card;\nendmodule\n",
}
ASK = """
from firmware.layers import folder_of, host_library, names
from pymodels.config.find import examples, find_config
from pymodels.hardware.discover import nic_kind
from pymodels.profiles import profile_names
from tb.build.build import source_files
from tb.plan import studies
assert "theirs" in names() and "echo" in names() and host_library("theirs").__module__ == "firmware.theirs.host"
assert studies.load("theirs").question == "What is theirs?" and "echo_pingpong" in studies.names()
assert "theirs" in profile_names() and "my_hosts" in examples() and find_config("my_hosts", {}).is_file()
assert nic_kind("ring") == "a ring"
assert source_files()[-1].name == "ring_card.sv"
print(folder_of("theirs"))
"""
HELPER = "size = 1\n"
CLUSTER = "pymodels/clusters/my_hosts/grim_config"
"""Cluster outside the hash of the sources: a point has the texts of its own cluster."""


@pytest.fixture(name="root")
def fixture_root(tmp_path: Path) -> Path:
    """Make the root, in a package `so_root`, with a module beside it that a layer imports."""
    for name, text in FILES.items():
        path = tmp_path / "so_root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "so_helper.py").write_text(HELPER, encoding="utf-8")
    return tmp_path / "so_root"


def asked(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": f"{TREE}{os.pathsep}{folder}", **environment}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, encoding="utf-8", capture_output=True, check=False
    )


@pytest.mark.parametrize("named", ["so_root", "{folder}/so_root", "so_root:so_root"])
def test_contents_of_a_root_on_the_path_are_found(root: Path, named: str) -> None:
    ended = asked(root.parent, "-c", ASK, SANLAB_PATH=named.format(folder=root.parent))
    assert ended.stdout == f"{root}/firmware/theirs\n", ended.stderr


def test_contents_of_a_package_with_an_entry_point_are_found(root: Path) -> None:
    about = root.parent / "so_root-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: so_root\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[sanlab]\ntheirs = so_root\n", encoding="utf-8")
    ended = asked(root.parent, "-c", ASK)
    assert ended.stdout == f"{root}/firmware/theirs\n", ended.stderr
    (about / "entry_points.txt").write_text("[sanlab]\ntheirs = so_rot\n", encoding="utf-8")
    ended = asked(root.parent, str(START), "studies")
    assert ended.returncode == 2
    assert ended.stderr.startswith("entry point 'theirs' of the group sanlab: missing root: so_rot does not exist")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("so_rot", "SANLAB_PATH: missing root: so_rot does not exist; name a folder with some of pymodels, firmware"),
        (
            "so_old",
            "SANLAB_PATH: outdated layout: so_old/firmware/host/mine has the former layout; "
            "move it to firmware/<layer>/host/",
        ),
        (
            "so_root/hdl",
            "SANLAB_PATH: not a root: so_root/hdl has none of the required folders; name a folder with some",
        ),
    ],
)
def test_a_folder_that_is_not_a_root_is_rejected(root: Path, named: str, said: str) -> None:
    (root.parent / "so_old/firmware/host/mine").mkdir(parents=True, exist_ok=True)
    ended = asked(root.parent, str(START), "studies", SANLAB_PATH=named)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(said)


@pytest.mark.parametrize(
    ("file", "place", "right"),
    [
        ("firmware/nic/mine/main.py", "firmware/nic/mine/", "firmware/<layer>/nic/"),
        ("firmware/host/mine/library.py", "firmware/host/mine/", "firmware/<layer>/host/"),
        ("tb/fuzz/layers/mine.py", "tb/fuzz/layers/", "tb/studies/<layer>/fuzz/"),
        ("tb/explore/worlds/mine.py", "tb/explore/worlds/", "tb/studies/<layer>/explore/worlds.py"),
        ("tb/studies/mine.py", "tb/studies/mine.py", "tb/studies/<layer>/"),
    ],
)
def test_each_place_of_the_old_layout_is_named_with_its_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, place: str, right: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).touch()
    monkeypatch.setenv("SANLAB_PATH", str(tmp_path))
    with pytest.raises(ConfigError) as error:
        check()
    cause = f"{tmp_path / place} has the former layout"
    assert str(error.value) == f"SANLAB_PATH: outdated layout: {cause}; move it to {right}"


def test_a_name_in_two_roots_is_rejected(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pymodels.roots.roots", lambda: (TREE, root))
    assert studies.files()["theirs"] == root / "tb" / "studies" / "theirs" / "theirs.py"
    (root / "tb" / "studies" / "theirs" / "silence.py").touch()
    with pytest.raises(ConfigError) as error:
        studies.files()
    places = f"{TREE}/tb/studies/network/silence.py and {root}/tb/studies/theirs/silence.py"
    assert str(error.value) == f"SANLAB_PATH: two of tb/studies are named 'silence': {places}; rename one"


@pytest.mark.parametrize(
    "name", [*sorted(FILES.keys() - {"pymodels/clusters/my_hosts/grim_config"}), "../so_helper.py"]
)
def test_a_change_in_a_root_makes_another_point(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root.parent))
    monkeypatch.setattr("tb.sweep.outside.roots", lambda: (TREE, root))
    monkeypatch.setattr(points, "roots", lambda: (root.parent / "tree", root))  # an empty tree: the real one takes long

    def key() -> str:
        sources_digest.cache_clear()
        request = resolve("echo_pingpong", "icarus", "1", False, "", "", "", ("icarus",))
        return spread(request, studies.load("echo_pingpong"), [{}])[0].key

    try:
        before = key()
        assert key() == before
        with (root / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        assert key() != before
    finally:
        sources_digest.cache_clear()
