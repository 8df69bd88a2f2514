"""Studies on the machine, from the same file as on the RTL.

Strategy: a small run of `am2_reliability` with more endpoints than frames on a network with losses, then the errors and
the output of the command.
"""

from __future__ import annotations

import pytest

from tb.lab import on_machine

SETTINGS = "messages=96 endpoints=3 am2.frames=2 am2.timeout_us=120 fault.loss=0.02 fault.damage=0"


def test_every_message_is_delivered_once_between_paged_endpoints_of_different_weights(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert on_machine.main(["am2_reliability", "--set", SETTINGS, "--nodes", "3"]) == 0
    printed = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert [printed[name] for name in ("lost", "duplicated", "changed", "messages")] == ["0", "0", "0", "192"]
    assert int(printed["resent"]) > 0


@pytest.mark.parametrize(("study", "settings"), [("am2_reliabilty", ""), ("am2_reliability", "am2.frames=1000")])
def test_invalid_arguments_are_rejected_before_the_run(
    study: str, settings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert on_machine.main([study, "--set", settings]) == 2
    assert "did you mean" in capsys.readouterr().err or settings
