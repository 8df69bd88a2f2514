"""Model checking of GRIM's small worlds.

Strategy: worlds of one message are searched to the end and must keep their guarantees. Known bugs are then injected
into the firmware, and the search must find each and report the schedule. A duplicated packet is accepted as new, an ACK
frees one message too many, or a lost packet is never retransmitted. Two searches of one world must give equal results.
A coroutine shows that the hash of a state distinguishes exactly the states that differ.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from firmware.grim.formats import Words
from firmware.grim.host.memory import REGIONS_VA, USER_VA
from firmware.grim.nic.channels import DONE, Channel
from firmware.grim.nic.receiving import Receiver
from firmware.grim.nic.streams import Streams
from firmware.grim.nic.timeouts import Timeouts
from firmware.via.nic.slots import CONFIRM
from pymodels.errors import ConfigError
from tb.explore.atlas import Atlas
from tb.explore.digest import TICKS, Digest
from tb.explore.part import TIMING
from tb.explore.run import chosen, layers, main, minutes, verdict
from tb.explore.search import Search
from tb.explore.situation import Outcome
from tb.explore.story import sentences
from tb.explore.world import SmallWorld
from tb.studies.grim.explore.messages import EVERYBODY, Once, Sent, world
from tb.studies.grim.explore.remote import Landed, Transfer

TWO = ((0, 1), (0, 1))
LOSSY: dict[str, int | str] = {"timeout_us": 100}


def searched(small: SmallWorld, seconds: float = math.inf) -> tuple[Outcome, list[str]]:
    """Return the outcome of a search, and its schedule."""
    atlas = Atlas(small)
    try:
        search = Search(small, atlas)
        outcome = search.run(seconds)
        search.unlimited()
        return outcome, list(sentences(search)) if outcome.wrong else []
    finally:
        atlas.close()


def known(name: str) -> SmallWorld:
    """Return a world of GRIM by name."""
    (found,) = chosen("grim", name)
    return found


def test_one_message_arrives_in_every_order_of_turns() -> None:
    outcome, _ = searched(world("one", "", ((0, 1),), {}))
    assert (outcome.wrong, outcome.exhausted, outcome.ends) == ("", True, 1)
    assert outcome.states > 10 * outcome.situations
    assert outcome.processor_s > 0
    assert verdict(outcome) == "proved"


def test_two_searches_of_one_world_give_equal_results() -> None:
    first, again = (
        searched(world("one", "", ((0, 1),), LOSSY, faults=frozenset({"lost"}), times=1))[0] for _ in range(2)
    )
    assert first.exhausted
    for name in ("situations", "transitions", "states", "places", "depth", "ends", "worked_out"):
        assert getattr(first, name) == getattr(again, name), name


def test_a_lost_packet_is_retransmitted_in_every_order() -> None:
    outcome, _ = searched(world("lost", "", ((0, 1),), LOSSY, faults=frozenset({"lost", "damaged"}), times=1))
    assert (outcome.wrong, outcome.exhausted) == ("", True)


def test_without_time_outs_a_lost_packet_is_found() -> None:
    outcome, story = searched(world("lost", "", ((0, 1),), {}, faults=frozenset({"lost"}), times=1))
    assert outcome.wrong == "at the end NI 0 still holds messages, 0 to 72 of its queue 0"
    assert "the network: ACTIVE token 0 sequence 0 is lost" in "\n".join(story)
    assert verdict(outcome) == "WRONG"


@pytest.mark.parametrize("name", ["write", "read", "miss"])
def test_transfer_is_complete_before_its_lock_in_every_order(name: str) -> None:
    outcome, _ = searched(known(name))
    assert (outcome.wrong, outcome.exhausted) == ("", True)
    assert outcome.ends


def test_a_broadcast_reaches_all_in_every_order() -> None:
    outcome, _ = searched(world("tree", "", ((0, EVERYBODY),), {"multicast_trees": 1}, nodes=2))
    assert (outcome.wrong, outcome.exhausted) == ("", True)


def test_a_world_that_ran_out_of_time_is_not_proved() -> None:
    outcome, _ = searched(world("two", "", TWO, {}), 0)
    assert not outcome.exhausted
    assert verdict(outcome) == "not exhausted"


# ---- properties


def test_received_messages_must_be_a_prefix_of_those_sent() -> None:
    once = Once((Sent(0, 1), Sent(0, 1), Sent(0, 1, 0, 1), Sent(0, EVERYBODY), Sent(1, EVERYBODY)))
    assert not once.always(1, (0, (0, 2, 3, 1), ()))
    assert once.always(1, (0, (1,), ())) == "host 1 got messages [1] of host 0, but [0, 1] were sent"
    assert "of which [-1] are not for it, or are changed" in once.always(1, (0, (0, -1), ()))
    assert "of which [0] are not for it" in once.always(0, (0, (3, 0), ()))
    assert "got an error: late" in once.always(0, (0, (), ("late",)))
    assert once.at_end(1, (0, (0, 1, 3, 4), ())) == "host 1 got messages [] of host 0, but [2] were sent"
    assert not once.at_end(1, (0, (0, 2, 1, 4, 3), ()))


def test_broadcasts_arrive_everywhere_in_the_same_order() -> None:
    once = Once((Sent(0, EVERYBODY), Sent(1, EVERYBODY), Sent(0, 1)))
    assert not once.together(((0, (1, 0), ()), (0, (1, 2, 0), ())))
    assert (
        once.together(((0, (1, 0), ()), (0, (0, 1), ())))
        == "hosts 0 and 1 got broadcasts in different orders: [1, 0], [0, 1]"
    )


def test_a_transfer_lands_in_order_and_its_lock_opens_last() -> None:
    landed = Landed((Transfer(0, 1, False, segments=2),))
    whole = landed.body(0)
    assert not landed.always(1, (0, ((0, bytes(64), 1),), ()))
    assert not landed.always(1, (0, ((0, whole, 0),), ()))
    assert "not a beginning of transfer 0" in landed.always(1, (0, ((0, bytes(32) + whole[32:], 1),), ()))
    assert "the lock of transfer 0 is 0" in landed.always(1, (0, ((0, whole[:32] + bytes(32), 0),), ()))
    assert landed.at_end(1, (0, ((0, whole, 1),), ())) == "transfers [0] have not arrived at host 1"


# ---- known bugs


def takes_anything(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Return a receiver that accepts every sequence number."""

    async def message(self: Any, buffer: int, head: Words, length: int, early: int) -> None:
        verdicts = self._verdicts
        verdicts.expected[verdicts.stream(head)] = head.sequence
        await original(self, buffer, head, length, early)

    return message


def frees_one_more(original: Callable[..., int]) -> Callable[..., int]:
    """Return a scoreboard whose ACK also frees the next message."""

    def done(self: Channel, slot: int) -> int:
        self.state[(slot + 1) % self.slots] = DONE
        return original(self, slot)

    return done


def never_expires(original: Any) -> Any:
    """Return a time-out check without effect."""

    async def expire(self: Any, stream: int) -> None:
        self._clock.age[stream] = 0

    return expire


def never_wakes(original: Any) -> Any:
    """Return a stream that never reports that it is ready."""
    return lambda self, stream: None


@pytest.mark.parametrize(
    ("owner", "name", "bug", "small", "found"),
    [
        (
            *(Receiver, "_message", takes_anything),
            world("doubled", "", ((0, 1),), LOSSY, faults=frozenset({"doubled"}), times=1),
            "host 1 got messages [0, 0] of host 0, but [0] were sent",
        ),
        (
            *(Channel, "done", frees_one_more),
            world("freed", "", TWO, {}),
            "at the end host 1 got messages [0] of host 0, but [0, 1] were sent",
        ),
        (
            *(Timeouts, "_expire", never_expires),
            world("lost", "", ((0, 1),), LOSSY, faults=frozenset({"lost"}), times=1),
            "livelock: no end is reachable from here",
        ),
        (
            *(Streams, "wake", never_wakes),
            world("copied", "", ((0, EVERYBODY),), {"multicast_trees": 1}, nodes=2),
            "at the end NI 0 still holds messages, 0 to 72 of its queue 0",
        ),
    ],
    ids=["accepts any message", "frees one too many", "no timeout", "no wake-up"],
)
def test_a_known_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, bug: Any, small: SmallWorld, found: str
) -> None:
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    outcome, story = searched(small)
    assert outcome.wrong == found
    assert story[-1] == found
    assert any("NIC 0" in line for line in story)


def test_replies_that_wait_for_requests_never_end() -> None:
    outcome, story = searched(known("reads-wait"))
    assert outcome.wrong == "at the end NI 0 still holds messages, 0 to 40 of its queue 0"
    assert verdict(outcome) == "found, as it must"
    assert any("RM_RV token 0 sequence 0" in line for line in story)


def test_search_after_a_prefix_finds_its_successors() -> None:
    small = world("lost", "", ((0, 1),), {}, faults=frozenset({"lost"}), times=1)
    whole, led = searched(small)[0], searched(replace(small, lead=1))[0]
    assert led.wrong == whole.wrong
    assert led.depth < whole.depth


# ---- parts of a state in its hash


class Pause:
    """Awaits once."""

    def __await__(self) -> Any:
        yield self


async def walk(items: list[int]) -> None:
    """Iterate with a position that no variable contains."""
    for _ in list(items):
        await Pause()


def number(*roots: object) -> bytes:
    """Return the hash of objects without memories."""
    return Digest([], [], lambda: (0, 0)).hash(*roots)


def test_an_address_is_not_hashed_as_a_time() -> None:
    """Use addresses as high as GRIM's registered memory, and VIA's slots with a flag."""
    digest = Digest([], [], lambda: (TICKS * TIMING.rtc_tick, TICKS + 9))
    assert digest.hash(TICKS + 1) == digest.hash(TICKS + 5)
    for address in (REGIONS_VA, USER_VA, CONFIRM):
        assert digest.hash(address) != digest.hash(address + 4)


def test_the_position_of_a_loop_belongs_to_the_state() -> None:
    one, other = walk([7, 7, 7]), walk([7, 7, 7])
    one.send(None)
    other.send(None)
    assert number(one) == number(other)
    other.send(None)
    assert number(one) != number(other)
    one.send(None)
    assert number(one) == number(other)


def test_sharing_of_an_object_belongs_to_the_state() -> None:
    shared: list[object] = ["a"]
    assert number([shared, shared]) != number([["a"], ["a"]])


# ---- command line


def test_layers_have_worlds_by_their_names() -> None:
    assert "grim" in layers()
    assert [found.name for found in chosen("grim", "append")] == ["append"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: chosen("grimm", ""), "LAYER: unknown layer: 'grimm' has no small worlds; did you mean 'grim'?"),
        (lambda: chosen("grim", "apend"), "WORLD: unknown world: grim has no 'apend'; did you mean 'append'?"),
        (lambda: minutes("-1"), "MINUTES: invalid time limit: MINUTES is '-1'; give a number above 0, such as 5"),
        (lambda: minutes("soon"), "MINUTES: invalid time limit: MINUTES is 'soon'; give a number above 0, such as 5"),
    ],
)
def test_unknown_layers_worlds_and_limits_are_rejected(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert str(caught.value) == says


def test_invalid_arguments_exit_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--", "nothing"]) == 2
    assert "unknown layer" in capsys.readouterr().err
