"""Small worlds exhausted. Strategy: worlds of one message are searched to the end, and must keep their promises; then
the firmware is given known bugs (a doubled packet is taken for a new one, an acknowledgement frees one message too
many, a lost packet is never sent again), and the search must find each and tell the schedule that shows it. Two
searches of one world must come to the same. That a state's number tells states apart, and not more, is shown on a
coroutine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.nic.grim.channels import DONE, Channel
from firmware.nic.grim.receiving import Receiver
from firmware.nic.grim.timeouts import LossyAnswers
from pymodels.errors import ConfigError
from tb.explore.atlas import Atlas
from tb.explore.digest import Digest
from tb.explore.run import chosen, layers, main, minutes, verdict
from tb.explore.search import Search
from tb.explore.situation import Outcome
from tb.explore.story import sentences
from tb.explore.world import SmallWorld
from tb.explore.worlds.grim import world

TWO = ((0, 1), (0, 1))
LOSSY: dict[str, int | str] = {"timeout_us": 100}


def searched(small: SmallWorld, seconds: float = 60) -> tuple[Outcome, list[str]]:
    """What a search comes to, and its story."""
    atlas = Atlas(small)
    try:
        search = Search(small, atlas)
        outcome = search.run(seconds)
        search.unlimited()
        return outcome, list(sentences(search)) if outcome.wrong else []
    finally:
        atlas.close()


def test_one_message_arrives_in_every_order_of_turns() -> None:
    outcome, _ = searched(world("one", "", ((0, 1),), {}))
    assert (outcome.wrong, outcome.exhausted, outcome.ends) == ("", True, 1)
    assert outcome.states > outcome.situations > 10
    assert verdict(outcome) == "proved"


def test_two_searches_of_one_world_come_to_the_same() -> None:
    first, again = (
        searched(world("one", "", ((0, 1),), LOSSY, faults=frozenset({"lost"}), times=1))[0] for _ in range(2)
    )
    assert first.exhausted
    for name in ("situations", "transitions", "states", "places", "depth", "ends", "worked_out"):
        assert getattr(first, name) == getattr(again, name), name


def test_a_lost_packet_is_repaired_in_every_order() -> None:
    outcome, _ = searched(world("lost", "", ((0, 1),), LOSSY, faults=frozenset({"lost", "damaged"}), times=1))
    assert (outcome.wrong, outcome.exhausted) == ("", True)


def test_without_time_outs_a_lost_packet_is_found() -> None:
    outcome, story = searched(world("lost", "", ((0, 1),), {}, faults=frozenset({"lost"}), times=1))
    assert outcome.wrong == "nothing more happens, and NI 0 still holds messages, 0 to 72 of its queue"
    assert "the network: ACTIVE token 0 sequence 0 is lost" in "\n".join(story)
    assert verdict(outcome) == "WRONG"


def test_out_of_time_is_not_proved() -> None:
    outcome, _ = searched(world("two", "", TWO, {}), 0.05)
    assert not outcome.exhausted
    assert verdict(outcome) == "not exhausted"


# ---- known bugs


def takes_anything(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A receiver that believes every sequence number."""

    async def message(self: Any, buffer: int, words: tuple[int, ...], length: int, early: int) -> None:
        self.expected[self.stream(words[1], words[3])] = words[0] & 0xFF
        await original(self, buffer, words, length, early)

    return message


def frees_one_more(original: Callable[..., int]) -> Callable[..., int]:
    """A scoreboard whose acknowledgement frees the next message too."""

    def done(self: Channel, slot: int) -> int:
        self.state[(slot + 1) % self.slots] = DONE
        return original(self, slot)

    return done


def never_expires(original: Any) -> Any:
    """Time-outs that are looked at and do nothing."""

    async def expire(self: Any, stream: int) -> None:
        self._age[stream] = 0

    return expire


@pytest.mark.parametrize(
    ("owner", "name", "bug", "small", "found"),
    [
        (
            *(Receiver, "_message", takes_anything),
            world("doubled", "", ((0, 1),), LOSSY, faults=frozenset({"doubled"}), times=1),
            "host 1 got messages [0, 0] of host 0, [0] were sent",
        ),
        (
            *(Channel, "done", frees_one_more),
            world("freed", "", TWO, {}),
            "nothing more happens, and host 1 got messages [0] of host 0, [0, 1] were sent",
        ),
        (
            *(LossyAnswers, "_expire", never_expires),
            world("lost", "", ((0, 1),), LOSSY, faults=frozenset({"lost"}), times=1),
            "from here on there is no way to an end: it goes round for ever",
        ),
    ],
    ids=["takes anything", "frees one more", "never expires"],
)
def test_a_known_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, bug: Any, small: SmallWorld, found: str
) -> None:
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    outcome, story = searched(small)
    assert outcome.wrong == found
    assert story[-1] == found
    assert any("NIC 0" in line for line in story)


# ---- what a state's number is made of


class Pause:
    """Awaits once."""

    def __await__(self) -> Any:
        yield self


async def walk(items: list[int]) -> None:
    """A loop whose place stands in no variable."""
    for _ in list(items):
        await Pause()


def number(*roots: object) -> bytes:
    """Of no memories."""
    return Digest([], [], lambda: (0, 0)).of(*roots)


def test_the_place_of_a_loop_belongs_to_the_state() -> None:
    one, other = walk([7, 7, 7]), walk([7, 7, 7])
    one.send(None)
    other.send(None)
    assert number(one) == number(other)
    other.send(None)
    assert number(one) != number(other)
    one.send(None)
    assert number(one) == number(other)


def test_who_shares_an_object_belongs_to_the_state() -> None:
    shared: list[object] = ["a"]
    assert number([shared, shared]) != number([["a"], ["a"]])


# ---- the command


def test_layers_have_worlds_by_their_names() -> None:
    assert "grim" in layers()
    assert [found.name for found in chosen("grim", "append")] == ["append"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: chosen("grimm", ""), "LAYER: no such layer: 'grimm' has no small worlds; did you mean 'grim'?"),
        (lambda: chosen("grim", "apend"), "WORLD: no such world: grim has no 'apend'; did you mean 'append'?"),
        (lambda: minutes("-1"), "MINUTES: no time: MINUTES is '-1'; give a number above 0, such as 5"),
        (lambda: minutes("soon"), "MINUTES: no time: MINUTES is 'soon'; give a number above 0, such as 5"),
    ],
)
def test_what_there_is_not_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert str(caught.value) == says


def test_wrong_words_end_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--", "nothing"]) == 2
    assert "no such layer" in capsys.readouterr().err
