"""Reference model of GRIM's multicast trees in the fuzz test.

Strategy: the model gets histories of one channel, with sequential and concurrent changes. It must determine which
channels are certainly subscribed, which may be, and which must receive a message. A program with two tasks that change
one tree must match it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest

from tb.fuzz import trial
from tb.fuzz.program import Act, Program, Value
from tb.studies.grim.fuzz.mail import Message
from tb.studies.grim.fuzz.trees import Change, Trees

TREE, PLACE = 1, (0, 0)


class History:
    """History of one channel in one tree."""

    def __init__(self) -> None:
        self.trees = Trees(nodes=2, most=4)
        self._now = itertools.count()

    def begin(self, joins: bool) -> Change:
        """Begin to subscribe or to unsubscribe."""
        change = Change(TREE, PLACE, joins)
        self.trees.begin(change, next(self._now), [])
        return change

    def end(self, change: Change, done: bool = True) -> bool | None:
        """End a change; return whether the channel was subscribed before."""
        self.trees.end(change, done, next(self._now))
        return change.sure

    def change(self, joins: bool, done: bool = True) -> bool | None:
        """Begin and end a change without other changes."""
        return self.end(self.begin(joins), done)

    def member(self) -> bool | None:
        """Return the model's verdict on the channel, now and for a message that starts."""
        message = Message(0, (1, 0), "take", 4, next(self._now), tree=TREE)
        self.trees.places(TREE, message)
        said = self.trees.member(TREE, PLACE)
        assert (PLACE in message.must, PLACE in message.may) == (said is True, said is None)
        return said


def test_changes_one_after_the_other_are_certain() -> None:
    history = History()
    assert history.member() is False
    assert history.change(joins=False, done=False) is False and history.member() is False
    assert history.change(joins=True) is False and history.member() is True
    assert history.change(joins=True) is True and history.member() is True
    assert history.change(joins=False) is True and history.member() is False


def test_a_place_with_a_change_under_way_may_have_subscribed() -> None:
    history = History()
    joining = history.begin(joins=True)
    assert history.member() is None
    history.end(joining)
    history.begin(joins=False)
    assert history.member() is None


def test_a_rejected_change_has_no_effect() -> None:
    history = History()
    history.change(joins=True)
    history.change(joins=False, done=False)
    assert history.member() is True


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_channel_changed_by_two_concurrent_tasks_may_be_subscribed_until_the_next_change(
    first: bool, last: bool
) -> None:
    history = History()
    history.change(joins=True)
    one, other = history.begin(joins=first), history.begin(joins=not first)
    ends = (one, other) if last else (other, one)
    assert [history.end(change) for change in ends] == [None, None]
    assert history.member() is None
    assert history.change(joins=True) is None and history.member() is True


def test_channel_subscribed_by_two_concurrent_tasks_is_subscribed() -> None:
    history = History()
    one, other = history.begin(joins=True), history.begin(joins=True)
    history.end(other)
    assert history.member() is True
    history.end(one)
    assert history.member() is True


def test_either_of_two_concurrent_unsubscriptions_of_a_channel_may_be_rejected() -> None:
    history = History()
    history.change(joins=True)
    one, other = history.begin(joins=False), history.begin(joins=False)
    assert [history.end(one, done=False), history.end(other)] == [None, None]


@pytest.mark.parametrize("pause", [1, 20])
def test_two_tasks_subscribe_and_unsubscribe_one_channel(pause: int) -> None:
    north: Mapping[str, Value] = {"name": "north", "mask": 1}
    first = Act(0, "subscribe", north), Act(0, "unsubscribe", north)
    second = Act(0, "subscribe", north, 1), Act(0, "stop", {"us": pause}, 1), Act(0, "unsubscribe", north, 1)
    assert not trial.on_machine("grim", Program(2, "lanai9", {}, {}, first + second)).failures
