"""Rejection of numbers, files, addresses and clusters before a build.

Strategy: digits of other scripts, non-finite numbers, seeds out of range, files with a byte order mark or invalid
UTF-8. Further cases are names that two roots share, addresses without a port, and clusters that are too small. Each
message is compared.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from pymodels import numerals, roots
from pymodels.errors import ConfigError, shown
from pymodels.profiles import load_profile, profile_names
from pymodels.profiles import profile as profile_module
from tb.plan.options import Option
from tb.report.terminal import is_live, status
from tb.report.window import window_ps
from tb.run import command
from tb.sanlab import child
from tb.sanlab.settings import words
from tb.sweep.axes import parse
from tb.sweep.farm import check_address
from tb.tools.paths import ROOT

FULL_WIDTH = "\uff11\uff12"
"""Digits that Python's `int` takes as 12."""
MARK = b"\xef\xbb\xbf"
ONE_HOST = "CLUSTER c\nSWITCH s 8\nHOST a\n  USE MYRI\nLINK a 0 s 0\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-1", "SEED: value out of range: SEED is -1; give 0 to 18446744073709551615"),
        (str(1 << 64), "SEED: value out of range: SEED is 18446744073709551616; give"),
        (FULL_WIDTH, "SEED: not a number: SEED is '\uff11\uff12'; give a whole number"),
        ("1.5", "SEED: not a number: SEED is '1.5'"),
        ("", "SEED: not a number: SEED is ''"),
    ],
)
def test_a_seed_is_a_number_of_64_bits(text: str, said: str) -> None:
    assert numerals.seed(str((1 << 64) - 1)) == (1 << 64) - 1
    with pytest.raises(ConfigError) as error:
        numerals.seed(text)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize("default", [1, 1.0])
@pytest.mark.parametrize("text", [FULL_WIDTH, "nan", "inf", "-inf", "1e999"])
def test_a_setting_is_a_finite_number_in_ascii(default: float, text: str) -> None:
    with pytest.raises(ConfigError, match="SET: wrong type: size is"):
        Option(default, "a number", -10, 10**9).parse("size", text)


@pytest.mark.parametrize("key", ["switch.fall_through_ns", "clock.nic_ps"])
def test_a_value_of_a_profile_is_in_ascii(key: str) -> None:
    with pytest.raises(ConfigError, match="SET"):
        load_profile("lanai9").override({key: FULL_WIDTH}, {})


@pytest.mark.parametrize("text", [FULL_WIDTH, "nan", "inf"])
def test_a_time_is_a_finite_number_in_ascii(text: str) -> None:
    with pytest.raises(ConfigError, match="FROM: invalid time"):
        window_ps(text, "")


def test_a_range_of_an_axis_is_in_ascii() -> None:
    (axis,) = parse("size=1:2", {"size"})
    assert axis.values == ("1", "2")
    with pytest.raises(ConfigError, match="invalid value: size has"):
        parse("size=\uff11:\uff12", {"size"})


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "http://127.0.0.1:8786", "tcp://", "host:", "host:0", "host:65536", ":8786", "a b:1"]
)
def test_the_address_of_a_scheduler_has_a_port(address: str) -> None:
    with pytest.raises(ConfigError, match=f"SCHEDULER: invalid address: SCHEDULER is {address!r}; give host:port"):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:8786", "tcp://node-7.lab:8786", "tls://[::1]:8786", "inproc://1/2/3"]
)
def test_an_address_with_a_port_is_taken(address: str) -> None:
    check_address(address)


def error_text(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error text of a rejected run, in one line."""
    assert command.main(["echo_pingpong", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    return said.err


def test_cluster_of_one_host_is_rejected_for_messages_between_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one").write_text(ONE_HOST, encoding="utf-8")
    said = error_text(capsys, f"--cluster={tmp_path / 'one'}", f"--out={tmp_path / 'out'}")
    assert said.startswith(f"{tmp_path / 'one'}: too few hosts: 1: echo_pingpong needs at least 2 hosts; add hosts")
    assert not (tmp_path / "out").exists()


def test_a_byte_order_mark_is_rejected_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "marked").write_bytes(MARK + ONE_HOST.encode())
    said = error_text(capsys, f"--cluster={tmp_path / 'marked'}")
    assert said.startswith(f"{tmp_path / 'marked'}:1: a byte order mark: the file begins with the bytes EF BB BF")


@pytest.fixture(name="root")
def fixture_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of profiles in addition to those of the tree."""
    known = roots.files_by_name("pymodels/profiles", "*.toml")

    def files_by_name(folder: str, pattern: str) -> dict[str, Path]:
        assert (folder, pattern) == ("pymodels/profiles", "*.toml")
        return {**known, **{path.stem: path for path in tmp_path.glob("*.toml")}}

    monkeypatch.setattr(profile_module, "files_by_name", files_by_name)
    return tmp_path


def test_a_profile_that_is_not_text_breaks_only_runs_that_use_it(root: Path) -> None:
    (root / "pbin.toml").write_bytes(b"\xff\xfe[host]\n")
    assert "lanai9" in profile_names()
    assert load_profile("lanai9").name == "lanai9+p3-450"
    for name in ("pbin", "lanai9+pbin"):
        with pytest.raises(ConfigError, match="pbin.toml: not a text file: byte 0 is not UTF-8"):
            load_profile(name)


def test_a_profile_with_a_byte_order_mark_is_named(root: Path) -> None:
    (root / "lanai9-m.toml").write_bytes(MARK + (ROOT / "pymodels/profiles/lanai9.toml").read_bytes())
    with pytest.raises(ConfigError, match="lanai9-m.toml:1: a byte order mark"):
        load_profile("lanai9-m")


@pytest.mark.parametrize("words", [("studies",), ("run", "echo_pingpong"), ("explain", "echo_pingpong")])
def test_a_study_that_two_roots_have_is_named(words: tuple[str, ...], tmp_path: Path) -> None:
    mine = tmp_path / "tb" / "studies" / "mine" / "echo_pingpong.py"
    mine.parent.mkdir(parents=True)
    mine.write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "tb.sanlab", *words]
    environment = {**os.environ, "SANLAB_PATH": str(tmp_path)}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    theirs = ROOT / "tb" / "studies" / "echo" / "echo_pingpong.py"
    said = f"SANLAB_PATH: two of tb/studies are named 'echo_pingpong': {theirs} and {mine}; rename one\n"
    assert ended.stderr == said


def test_scalars_of_numpy_are_settings() -> None:
    given = {"a": np.int64(3), "b": np.float64(0.5), "c": np.bool_(True), "d": np.str_("x y"), "e": np.float32(0.25)}
    assert words(given) == "a=3 b=0.5 c=1 d='x y' e=0.25"


def test_no_text_of_the_library_has_escape_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.setenv(name, "1")
    ended = child.call(["run", "nosuchstudy"])
    assert ended.code == 2
    assert "unknown study 'nosuchstudy'" in ended.err
    assert "\x1b" not in ended.err + ended.out


def test_no_spinner_is_drawn_into_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = io.StringIO()
    console = Console(file=file)
    assert console.is_terminal
    assert not is_live(console)
    with status(console, "building"):
        pass
    assert file.getvalue() == ""


def test_control_characters_are_escaped_on_one_line() -> None:
    assert shown("boom \x1b[31m \x00 'q' \n second\u202e\ud800") == "boom \\x1b[31m \\x00 'q'   second\\u202e\\ud800"
    assert shown("caf\u00e9\tx") == "caf\u00e9\tx"
