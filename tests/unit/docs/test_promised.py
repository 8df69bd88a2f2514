"""The promised API.

Strategy: the sources keep every name and argument of the committed list of the last release. Lists made for the test
lose a name or an argument, or add one without a default, and each loss is reported.
"""

from __future__ import annotations

import pytest

from tb.docs.promised import RELEASED, broken, surface

OLD = ["sanlab.run(study, settings=, **given)", "sanlab.Run", "sanlab.Run.series"]


def test_sources_keep_the_promises_of_the_last_release() -> None:
    assert broken(RELEASED.read_text(encoding="utf-8").splitlines(), surface()) == []


def test_library_is_promised_with_its_arguments() -> None:
    assert any(line.startswith("sanlab.run(study, settings=") for line in surface())
    assert "sanlab.Run.series" in surface()


@pytest.mark.parametrize(
    ("now", "complaint"),
    [
        (OLD[1:], "sanlab.run: missing"),
        (["sanlab.run(study, **given)", *OLD[1:]], "sanlab.run: argument settings is missing"),
        (["sanlab.run(study, settings=, place, **given)", *OLD[1:]], "sanlab.run: argument place has no default"),
        (["sanlab.run(study, settings, **given)", *OLD[1:]], "sanlab.run: argument settings= has no default"),
        (OLD[:2], "sanlab.Run.series: missing"),
    ],
)
def test_broken_promise_is_named(now: list[str], complaint: str) -> None:
    assert broken(OLD, now) == [complaint]


def test_new_name_and_argument_with_default_break_nothing() -> None:
    assert broken(OLD, ["sanlab.run(study, settings=, sim=, **given)", *OLD[1:], "sanlab.more()"]) == []
