"""The shape of errors.

Strategy: build each error and compare its whole text, because users and tests alike read it. `nearest` is tried with
typing mistakes, wrong case, dotted names and words that resemble nothing. Exit codes are what a main program returns.
Nothing here touches a file.
"""

from __future__ import annotations

import pickle

import pytest

from pymodels.errors import ConfigError, SanlabError, nearest


def test_an_error_text_consists_of_subject_cause_and_remedy() -> None:
    error = SanlabError("no such study", "'pingpog'", "did you mean 'pingpong'?")
    assert str(error) == "no such study: 'pingpog'; did you mean 'pingpong'?"
    assert (error.what, error.cause, error.remedy) == ("no such study", "'pingpog'", "did you mean 'pingpong'?")
    assert error.exit_code == 1


def test_configuration_errors_begin_with_their_place_and_exit_with_two() -> None:
    error = ConfigError("grim_config", 7, "unknown host", "'pari'", "did you mean 'paris'?")
    assert str(error) == "grim_config:7: unknown host: 'pari'; did you mean 'paris'?"
    assert error.exit_code == 2
    assert isinstance(error, SanlabError)


def test_line_zero_stands_for_the_whole_file() -> None:
    assert str(ConfigError("SET", 0, "a", "b", "c")) == "SET: a: b; c"


def test_errors_survive_pickling_between_processes() -> None:
    error = ConfigError("f", 3, "a", "b", "c")
    assert str(pickle.loads(pickle.dumps(error))) == "f:3: a: b; c"  # noqa: S301, our own bytes


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("HOTS", "did you mean 'HOST'?"),
        ("host", "did you mean 'HOST'?"),
        ("nic_ps", "did you mean 'clock.nic_ps'?"),
        ("clock.nik_ps", "did you mean 'clock.nic_ps'?"),
        ("zzz", "known: HOST, USE, clock.nic_ps"),
    ],
)
def test_nearest_names_the_known_word(word: str, expected: str) -> None:
    assert nearest(word, ["USE", "HOST", "clock.nic_ps"]) == expected


def test_some_of_many_distant_names_are_listed() -> None:
    names = [f"word{i:02d}" for i in range(13)]
    assert nearest("zzz", names).startswith("nearest of 13 known: word")
    assert nearest("zzz", names).count(",") == 2


def test_nearest_name_of_an_empty_list_is_an_empty_remedy() -> None:
    assert nearest("x", []) == "none are known"
