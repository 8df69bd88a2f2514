"""Mail: the same calls on every layer bring every byte to the host that it was sent to.

Strategy: on the machine, for each layer that has mail and each that it can stand on. All hosts post to all others
before they receive, which needs room everywhere; then one host sends messages of several sizes, as many as layers make
room for, to one that receives late, and messages that are sent back. Sources, bytes and order are compared.
"""

from __future__ import annotations

import pytest

from firmware.layers import with_mail
from firmware.mail import AHEAD, Mail
from firmware.stack import grounds
from tests.unit.layers.mail_bench import MailBench

WAYS = [(layer, on) for layer in with_mail() for on in (grounds(layer) or ("",))]
LATE_PS = 150_000_000


def _message(source: int, target: int, size: int) -> bytes:
    return bytes((source + 3 * target + at) & 0xFF for at in range(size))


MANY = [(layer, on, 3) for layer, on in WAYS] + [("echo", "", 8)]
"""With 8 hosts more echo messages are under way than slots, slack buffers and inboxes hold."""


@pytest.mark.parametrize(("layer", "on", "hosts"), MANY)
def test_all_hosts_may_post_before_they_receive(layer: str, on: str, hosts: int) -> None:
    bench = MailBench(layer, hosts, on=on)

    async def host(me: int, mail: Mail) -> None:
        others = [node for node in range(hosts) if node != me]
        for node in others:
            await mail.post(node, _message(me, node, 48))
        came = [await mail.receive() for _ in others]
        assert sorted(came) == [(node, _message(node, me, 48)) for node in others]
        await mail.posted()
        await mail.finish()

    bench.run(*(host(me, mail) for me, mail in enumerate(bench.mails)), within_us=50_000)


@pytest.mark.parametrize(("layer", "on"), WAYS)
def test_messages_of_any_size_wait_for_a_late_receiver_in_order(layer: str, on: str) -> None:
    bench = MailBench(layer, on=on)
    near, far = bench.mails
    sizes = [min(size, near.most) for size in (1, 4, 33, 64, 700, 1024, 2000, 4096)][: AHEAD - 2]

    async def sends() -> None:
        for size in sizes:
            await near.send(1, _message(0, 1, size))
        await near.finish()

    async def receives() -> None:
        await far.host.sleep(LATE_PS, "other work")
        assert [await far.receive() for _ in sizes] == [(0, _message(0, 1, size)) for size in sizes]
        await far.finish()

    bench.run(sends(), receives())


@pytest.mark.parametrize(("layer", "on"), WAYS)
def test_what_is_asked_comes_back_and_nothing_is_left_unanswered(layer: str, on: str) -> None:
    bench = MailBench(layer, on=on)
    near, far = bench.mails

    async def asks() -> list[bytes]:
        found = [await near.ask(1, _message(0, 1, size)) for size in (4, 64, 17)]
        await near.settle()
        await near.finish()
        return found

    async def answers() -> None:
        for _ in range(3):
            await far.answer()
        await far.finish()

    assert bench.run(asks(), answers())[0] == [_message(0, 1, size) for size in (4, 64, 17)]
