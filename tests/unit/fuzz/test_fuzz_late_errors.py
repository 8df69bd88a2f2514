"""Repetition of calls with late errors in the fuzz test of GRIM.

Strategy: a stub library raises a given number of errors after a given number of messages.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware.grim.channel_map import NO_CARD, ChannelMap
from firmware.grim.host.enable import Phase
from firmware.grim.host.errors import UndeliveredError
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.errors import Ledger
from tb.studies.grim.fuzz.node import Node

DOWN = UndeliveredError(0, 0)
FOR_EVER = 1 << 30


class Failing:
    """Node 1 of two, whose library has sent messages to one that does not answer."""

    def __init__(self, sent: int, failing: int) -> None:
        self.left, self.wrong, self.ledger = failing, list[str](), Ledger()
        sending = SimpleNamespace(messenger=SimpleNamespace(sending=SimpleNamespace(sends=sent)))
        nodes = SimpleNamespace(channels=lambda node: ChannelMap(NO_CARD, {}))
        options = SimpleNamespace(channels=1)
        library = SimpleNamespace(options=options, phase=Phase.ENABLED, calls=sending, nodes=nodes)
        cluster = SimpleNamespace(
            parts=[None, SimpleNamespace(library=library)],
            world=SimpleNamespace(hosts=[None, None]),
            ledgers=[None, self.ledger],
            program=SimpleNamespace(nodes=2),
            mail=None,
            memory=None,
            wrong=self.wrong,
        )
        self.node = Node(cast("Cluster", cluster), 1)

    def call(self) -> Any:
        """Return the result of the call, repeated or not."""
        return asyncio.run(self.node.call("find west", self._tried))

    def _tried(self) -> int:
        self.left -= 1
        if self.left >= 0:
            raise DOWN
        return 7


@pytest.mark.parametrize("sent", [0, 10, 700])
def test_a_call_is_made_as_soon_as_all_messages_before_it_have_failed(sent: int) -> None:
    failing = Failing(sent, 2 * sent)
    failing.ledger.owe("earlier", "destination", "does not answer", least=2 * sent, most=2 * sent)
    assert failing.call() == 7
    assert failing.wrong == failing.ledger.missing() == []


def test_call_fails_if_its_message_fails_each_time() -> None:
    failing = Failing(10, FOR_EVER)
    failing.ledger.allow("a NI that stands still", "destination", "does not answer")
    assert failing.call() is None
    assert failing.wrong == []


def test_an_error_more_than_messages_have_earned_is_wrong() -> None:
    failing = Failing(10, 21)
    failing.ledger.owe("earlier", "destination", "does not answer", least=20, most=20)
    failing.call()
    assert "find west" in failing.wrong[0]
