"""Set-up: what it installs, what it says, and that it can be interrupted anywhere.

Strategy: tb/setup.sh runs in a checkout of its own with fake tools: a Python that notes its calls, a user who is root
or not, an apt-get that installs nothing. Every state a machine or a killed set-up can be in is made, and then calls,
output, exit code and stamp are compared. Nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sanlab.checkout import Checkout

PIP = "<-m><pip><install>"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_second_set_up_is_silent_and_changes_nothing(checkout: Checkout) -> None:
    assert checkout.set_up("compiler").returncode == 0
    assert len(checkout.calls(PIP)) == 1
    again = checkout.set_up("compiler")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert checkout.calls() == []


def test_the_environment_contains_sanlab(checkout: Checkout) -> None:
    checkout.set_up()
    assert [call for call in checkout.calls(PIP) if call.endswith("<-r><requirements.txt><-e><.>")]


def test_other_requirements_are_installed_in_place(checkout: Checkout) -> None:
    checkout.set_up()
    kept = checkout.root / ".venv" / "kept"
    kept.touch()
    checkout.requirements.write_text("one==2\n", encoding="utf-8")
    checkout.calls()
    assert checkout.set_up().returncode == 0
    assert len(checkout.calls(PIP)) == 1
    assert kept.exists()
    assert checkout.stamp.read_text(encoding="utf-8").endswith("one==2\n")


def test_a_killed_set_up_is_repeated(checkout: Checkout) -> None:
    assert checkout.set_up(FAKE_PIP_DIES="1").returncode != 0
    assert checkout.stamp.read_text(encoding="utf-8") == "unfinished\n"
    (checkout.root / ".venv" / "torn").touch()
    checkout.calls()
    assert checkout.set_up().returncode == 0
    assert len(checkout.calls("<-m><venv>")) == 1
    assert not (checkout.root / ".venv" / "torn").exists()
    assert checkout.stamp.read_text(encoding="utf-8").endswith("one==1\n")


def test_a_moved_checkout_is_set_up_again(checkout: Checkout, tmp_path: Path) -> None:
    checkout.set_up()
    checkout.root = checkout.root.rename(tmp_path / "elsewhere")
    checkout.calls()
    assert checkout.set_up().returncode == 0
    assert len(checkout.calls("<-m><venv>")) == 1


def test_an_environment_without_its_python_is_recreated(checkout: Checkout) -> None:
    checkout.set_up()
    (checkout.root / ".venv" / "bin" / "python").unlink()
    checkout.calls()
    assert checkout.set_up().returncode == 0
    assert len(checkout.calls("<-m><venv>")) == 1


def test_an_environment_made_by_hand_is_kept(checkout: Checkout) -> None:
    checkout.run("python3", "-m", "venv", str(checkout.root / ".venv"))
    checkout.calls()
    assert checkout.set_up().returncode == 0
    assert checkout.calls("<-m><venv>") == []
    assert checkout.stamp.exists()


def test_a_folder_that_is_not_an_environment_is_never_emptied(checkout: Checkout, tmp_path: Path) -> None:
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.touch()
    ended = checkout.set_up(VENV=str(precious.parent))
    assert ended.returncode == 1
    assert "no virtual environment" in ended.stderr
    assert precious.exists()


def test_packages_that_do_not_install_leave_no_stamp(checkout: Checkout) -> None:
    ended = checkout.set_up(FAKE_PIP_FAILS="1")
    assert ended.returncode == 1
    assert "could not be installed" in ended.stderr
    assert checkout.stamp.read_text(encoding="utf-8") == "unfinished\n"


@pytest.mark.parametrize(
    ("trouble", "package"),
    [
        ("FAKE_NO_ENSUREPIP", "python3.11-venv"),
        ("FAKE_NO_LIBPYTHON", "libpython3.11"),
        ("FAKE_OLD", "python3 python3-venv"),
    ],
)
def test_missing_parts_of_python_are_reported_in_one_line(checkout: Checkout, trouble: str, package: str) -> None:
    ended = checkout.set_up(**{trouble: "1"})
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert f"`apt-get install {package}`" in ended.stderr


def test_missing_parts_of_python_are_installed_for_root(checkout: Checkout) -> None:
    checkout.become_root()
    assert checkout.set_up(FAKE_NO_ENSUREPIP="1", FAKE_NO_LIBPYTHON="1").returncode == 0
    installed = [line for line in checkout.calls("apt-get") if "<install>" in line]
    assert ["<python3.11-venv>" in installed[0], "<libpython3.11>" in installed[1]] == [True, True]


def test_python_is_searched_under_its_versions_names(checkout: Checkout) -> None:
    (checkout.tools / "python3").rename(checkout.tools / "python3.12")
    assert checkout.set_up().returncode == 0


def test_a_missing_tool_that_is_not_needed_now_costs_one_line_once(checkout: Checkout) -> None:
    (checkout.tools / "iverilog").unlink()
    ended = checkout.set_up("compiler")
    assert ended.returncode == 0
    assert ended.stdout.splitlines()[-1].startswith("missing: iverilog: type `apt-get install iverilog` as root")
    assert checkout.set_up("compiler").stdout == ""


def test_missing_python_headers_are_reported_once_and_not_required(checkout: Checkout) -> None:
    ended = checkout.set_up("compiler", FAKE_NO_HEADERS="1")
    assert ended.returncode == 0
    assert ended.stdout.splitlines()[-1].startswith("missing: python3.11-dev: type `apt-get install python3.11-dev` as")
    assert checkout.set_up("compiler", FAKE_NO_HEADERS="1").stdout == ""


def test_python_headers_are_installed_for_root(checkout: Checkout) -> None:
    checkout.become_root()
    (checkout.tools / "iverilog").unlink()
    assert checkout.set_up(FAKE_NO_HEADERS="1").returncode == 0
    (installed,) = [line for line in checkout.calls("apt-get") if "<install>" in line]
    assert installed.endswith("<iverilog> <python3.11-dev>")


def test_a_missing_tool_that_is_needed_fails_after_the_rest_was_set_up(checkout: Checkout) -> None:
    (checkout.tools / "vvp").unlink()
    (checkout.tools / "g++").unlink()
    ended = checkout.set_up("compiler", "icarus")
    assert ended.returncode == 1
    assert "type `apt-get install g++ iverilog liblz4-dev zlib1g-dev`" in ended.stdout
    assert checkout.stamp.read_text(encoding="utf-8").endswith("one==1\n")


def test_packages_for_tests_are_installed_only_for_tests(checkout: Checkout) -> None:
    checkout.become_root()
    for name in ("tshark", "chromium", "clang-16", "llvm-objdump-16", "mpicc.mpich", "gfortran"):
        (checkout.tools / name).unlink()
    assert "missing" not in checkout.set_up("compiler").stdout
    assert [line for line in checkout.calls("apt-get") if "<tshark>" in line] == []
    checkout.set_up("compiler", "tshark", "chromium", "clang", "mpich", "fortran")
    (installed,) = [line for line in checkout.calls("apt-get") if "<install>" in line]
    assert installed.endswith("<tshark> <chromium> <clang-16> <llvm-16> <mpich> <libmpich-dev> <gfortran>")


def test_one_missing_package_does_not_prevent_the_others(checkout: Checkout) -> None:
    checkout.become_root()
    for name in ("tshark", "chromium"):
        (checkout.tools / name).unlink()
    checkout.set_up("tshark", "chromium", FAKE_APT_FAILS="1")
    installed = [
        line.split("--no-install-recommends> ")[1] for line in checkout.calls("apt-get") if "<install>" in line
    ]
    assert installed == ["<tshark> <chromium>", "<tshark>", "<chromium>"]


def test_missing_tools_are_installed_for_root(checkout: Checkout) -> None:
    checkout.become_root()
    (checkout.tools / "iverilog").unlink()
    ended = checkout.set_up(FAKE_APT_FAILS="1")
    assert ended.returncode == 0
    assert "apt-get failed: see sim_build/setup.log" in ended.stdout
    checkout.tool("apt-get", f'#!/bin/sh\n: >"{checkout.tools}/iverilog"; chmod +x "{checkout.tools}/iverilog"\n')
    checkout.run("rm", "-rf", ".venv")
    assert "missing" not in checkout.set_up("icarus").stdout
    assert (checkout.tools / "iverilog").exists()


def test_a_checkout_in_a_path_with_a_colon_needs_an_environment_elsewhere(checkout: Checkout, tmp_path: Path) -> None:
    checkout.root = checkout.root.rename(tmp_path / "a:b")
    ended = checkout.set_up()
    assert ended.returncode == 1
    assert ended.stderr == (
        f"{tmp_path}/a:b/.venv: Python makes no virtual environment in a path with ':'; "
        "move the checkout, or give VENV=<folder>\n"
    )
    assert checkout.calls("<-m><venv>") == []
    assert checkout.set_up(VENV=str(tmp_path / "venv")).returncode == 0


def test_set_up_writes_nothing_into_a_checkout_whose_results_and_environment_are_elsewhere(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.become_root()
    (checkout.tools / "iverilog").unlink()
    before = sorted(checkout.root.rglob("*"))
    ended = checkout.set_up("icarus", SANLAB_OUT=str(tmp_path / "out"), VENV=str(tmp_path / "venv"), FAKE_APT_FAILS="1")
    assert f"apt-get failed: see {tmp_path}/out/setup.log" in ended.stdout
    assert sorted(checkout.root.rglob("*")) == before
    assert (tmp_path / "venv" / "sanlab.stamp").exists() and (tmp_path / "out" / ".setup.lock").exists()


def test_an_unknown_requirement_is_rejected(checkout: Checkout) -> None:
    ended = checkout.set_up("kompiler")
    assert ended.returncode == 1
    assert "known: compiler icarus waves headers tshark chromium clang mpich fortran" in ended.stderr
