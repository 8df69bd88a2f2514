"""Early end of a search.

Strategy: Ctrl-C in the middle of the second of three worlds must show the results of the first two. No process may be
left, even if it is in a step that never ends. The same holds if a signal ends the command at any place. The end of a
pipe proves this, since a remaining process would keep it open.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from tb.explore import run
from tb.explore.atlas import Atlas
from tb.explore.part import Stage, Step
from tb.studies.grim.explore.messages import world
from tests.patience import PATIENCE_S


def test_interrupt_reports_the_findings_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = [world(name, "", ((0, 1),), {}) for name in ("first", "second", "third")]
    monkeypatch.setattr(run, "chosen", lambda layer, name: small)
    original, atlases = Atlas.after, []

    def after(self: Atlas, part: int, number: int, step: Step) -> object:
        atlases.append(self)
        if self is not atlases[0] and self.worked_out > 10:
            raise KeyboardInterrupt
        return original(self, part, number, step)

    monkeypatch.setattr(Atlas, "after", after)
    assert run.main(["--", "grim"]) == 130
    ended = capsys.readouterr()
    assert re.search(r"^first +proved +\d+", ended.out, re.MULTILINE)
    assert re.search(r"^second +interrupted +[1-9]", ended.out, re.MULTILINE)
    assert "third" not in ended.out
    assert "interrupted; results found before the interrupt are above" in ended.err
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_search_that_is_ended_from_outside_leaves_no_process(end: signal.Signals) -> None:
    inherited = signal.signal(signal.SIGINT, signal.SIG_DFL)  # as under a terminal
    command = [sys.executable, "-m", "tb.explore.run", "--", "grim"]
    try:
        process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, encoding="utf-8")
    finally:
        signal.signal(signal.SIGINT, inherited)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline().startswith("append: ")
        os.kill(process.pid, end)
        process.stdout.read()
    assert process.returncode == 130


def test_endless_step_is_terminated(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Atlas._receive
    ended, alive = os.pipe()

    def step(self: Stage, step: Step) -> None:
        os.write(alive, b"!")
        time.sleep(10 * PATIENCE_S)

    def receive(self: Atlas) -> object:
        """Interrupt the search in the first step, after all parts have started."""
        if not all(self.places) or not self.places:
            return original(self)
        os.read(ended, 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Stage, "step", step)
    monkeypatch.setattr(Atlas, "_receive", receive)
    outcome, _ = run.explore(world("one", "", ((0, 1),), {}), PATIENCE_S, Console())
    os.close(alive)
    assert outcome.interrupted
    assert select.select([ended], [], [], PATIENCE_S)[0]
    os.close(ended)
