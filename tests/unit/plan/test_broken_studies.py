"""An unusable study is reported in one line with file and line and exit code 2, and is listed as failed.

Strategy: each kind of broken study is put into a root of its own; the command runs it as a user does. No build is made.
The end of a simulator, and the last line of Python it executed, are read from made-up logs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pymodels.results import ResultsError
from tb.plan import studies
from tb.plan.declared import StudyError
from tb.report.contents import write_contents
from tb.run.simulate import how_it_ended
from tb.tools.lines import awaits_at, dumped_at, raised_at
from tb.tools.paths import ROOT
from tb.tools.workplace import publish, workplace

BROKEN = {
    "s_norun": ('"""No run."""\n', ": not a study: it has no `run`; define `async def run(lab: Lab) -> None`"),
    "s_plain": ("def run(lab): pass\n", ": not a study: its `run` is not a coroutine function; define"),
    "s_syntax": ("\nasync def run(lab) pass\n", ":2: invalid Python in the study: expected ':'; correct the line"),
    "s_import": ("import nosuchmodule\n", ":1: the study cannot be imported: ModuleNotFoundError: No module named"),
    "s_exits": ("import sys\nsys.exit(3)\n", ":2: the study cannot be imported: SystemExit: 3; correct the line"),
    "s_raises": ("raise ValueError('a\\x1b[31m\\nb')\n", ":1: the study cannot be imported: ValueError: a\\x1b[31m b;"),
    "s_options": (
        "OPTIONS = {'size': 5}\nasync def run(lab): pass\n",
        ": not a study: OPTIONS is of type dict; give a table of",
    ),
    "s_layer": ("LAYER = None\nasync def run(lab): pass\n", ": not a study: LAYER is None; give the name of a layer"),
    "s_needs": (
        "NEEDS = 'tags'\nasync def run(lab): pass\n",
        ": not a study: NEEDS is 'tags'; give a tuple of features",
    ),
    "s_hosts": ("HOSTS = True\nasync def run(lab): pass\n", ": not a study: HOSTS is True; give a number of hosts"),
    "s_tiny": ("TINY = ('size=1',)\nasync def run(lab): pass\n", ": not a study: TINY is ('size=1',); give a text of"),
    "s_variants": (
        "VARIANTS = {'x': 'y'}\nasync def run(lab): pass\n",
        ": not a study: VARIANTS is {'x': 'y'}; give (pro",
    ),
    "s_no_check": ("check = True\nasync def run(lab): pass\n", ": not a study: check is True; define a function"),
    "s_check": (
        "async def run(lab): pass\ndef check(plan):\n    return 1 / 0\n",
        ":3: check of the study fails: ZeroDivisionError: division by zero; correct the line",
    ),
    "s_cores": (
        "async def run(lab): pass\ndef cores(plan):\n    raise SystemExit\n",
        ":3: cores of the study fails: SystemExit: ; correct the line",
    ),
}


EACH = "import sys; from tb.run.command import main; print(*[main([name]) for name in sys.argv[1:]])"


def test_invalid_studies_are_reported_in_one_line_and_listed_as_failed(tmp_path: Path) -> None:
    folder, out = tmp_path / "root" / "tb" / "studies" / "broken", tmp_path / "out"
    folder.mkdir(parents=True)
    for name, (text, _) in BROKEN.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    environment = {**os.environ, "SANLAB_PATH": str(tmp_path / "root"), "SANLAB_OUT": str(out)}
    command = [sys.executable, "-c", EACH, *BROKEN]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert ended.stdout.split() == ["2"] * len(BROKEN), ended.stderr
    index = (out / "index.html").read_text(encoding="utf-8")
    for (name, (_, said)), line in zip(BROKEN.items(), ended.stderr.splitlines(keepends=True), strict=True):
        assert line.startswith(f"{folder / name}.py{said}")
        assert (out / name / "failures.txt").read_text(encoding="utf-8") == line
        assert f"<strong>{name}</strong>" in index
    assert index.count('<span class="bad">failed</span>') == len(BROKEN)


def test_an_invalid_setting_is_not_reported_as_an_error_of_the_study() -> None:
    assert not studies.fault("echo_pingpong")
    info = SimpleNamespace(module=SimpleNamespace(__file__=__file__), name="here")

    def check(_: object) -> None:
        raise ResultsError("what", "cause", "remedy")

    with pytest.raises(ResultsError):
        studies.guarded(info, check, None)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=r"test_broken_studies.py:\d+: <lambda> of the study fails: KeyError"):
        studies.guarded(info, lambda _: os.environ["NO SUCH"], None)  # type: ignore[arg-type]


def test_a_foreign_index_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>mine</title>", encoding="utf-8")
    with pytest.raises(
        ResultsError, match=r"index not written: .*index.html is not an index of reports; move the file away"
    ):
        write_contents(tmp_path)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "<title>mine</title>"


def test_folders_in_which_runs_work_are_not_listed(tmp_path: Path) -> None:
    with workplace(tmp_path / "one") as work:
        (work / "failures.txt").write_text("it <failed>\n", encoding="utf-8")
        publish(work, tmp_path / "one")
    (tmp_path / "two" / ".run-x").mkdir(parents=True)
    (tmp_path / "two" / ".run-x" / "results.json").write_text("{}", encoding="utf-8")
    text = write_contents(tmp_path).read_text(encoding="utf-8")
    assert "it &lt;failed&gt;" in text
    assert text.count("<li>") == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (-signal.SIGSEGV, "killed by SIGSEGV"),
        (-signal.SIGBUS, "killed by SIGBUS"),
        (-signal.SIGKILL, "killed by SIGKILL, by a user or by the kernel for lack of memory"),
        (-200, "killed by signal 200"),
    ],
)
def test_an_end_by_a_signal_is_reported_with_its_name(code: int, said: str) -> None:
    assert how_it_ended(code) == said


def test_the_line_of_the_study_is_read_from_the_last_traceback_of_the_log() -> None:
    study = Path("/mine/tb/studies")
    log = """Fatal Python error: Segmentation fault
Current thread 0x0001 (most recent call first):
  File "/lib/python/os.py", line 9 in kill
  File "/mine/tb/studies/_help.py", line 4 in dies
  File "/mine/tb/studies/s.py", line 7 in run
  File "/tree/tb/run/entry.py", line 99 in _whole
"""
    assert dumped_at(log, study) == "/mine/tb/studies/_help.py:4"
    assert dumped_at(log, Path("/other")) == ""
    assert dumped_at("no traceback", study) == ""
    assert dumped_at(
        f'{log}(most recent call first):\n  File "{ROOT}/tb/studies/s.py", line 8 in run', ROOT / "tb/studies"
    ) == ("tb/studies/s.py:8")


def test_the_line_of_an_exception_and_of_a_wait_are_those_of_the_folder() -> None:
    here = Path(__file__).parent

    class Never:
        def __await__(self) -> Any:
            yield

    async def waits() -> None:
        await Never()

    async def study() -> None:
        await waits()

    coroutine = study()
    coroutine.send(None)
    line = waits.__code__.co_firstlineno + 1
    assert awaits_at(coroutine, here) == f"tests/unit/plan/test_broken_studies.py:{line}"
    assert awaits_at(coroutine, here.parent) == ""
    coroutine.close()
    with pytest.raises(ValueError, match="invalid literal") as error:
        int("x")
    assert raised_at(error.value, here).startswith("tests/unit/plan/test_broken_studies.py:")
    assert raised_at(error.value, here.parent) == ""
