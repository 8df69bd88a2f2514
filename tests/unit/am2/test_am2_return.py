"""Undeliverable AM-II messages: returned complete to their sender, with a code, after at most 255 retransmissions.

Strategy: packets are lost on the machine's wires by number, and counted there. Words of a process's own frame are
changed without the library, as a program without it could, so that the NICs must detect the errors.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.am2.host import ALWAYS, NEVER, Am2Error, Code, EndpointName, Token
from firmware.am2.nic.layout import FRAMES, Word, descriptor
from firmware.am2.nic.words import OWNED, Queue
from pymodels.machine import MachineError
from tests.unit.am2.am2_bench import KEEP, TAG, Bench

TIMEOUT_US = 10
WORDS, DATA = (1, 2, 3, 0xFFFFFFFF, 5, 6, 7, 8), bytes(range(256)) * 3
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])


def comes_back(bench: Bench, code: Code, data: bytes = DATA, opcode: str = "request medium") -> Token:
    """Return the single returned message, after a check of its contents."""
    (token,) = bench.back[0]
    assert (token.status, token.opcode, token.arguments) == (code, opcode, WORDS)
    assert bench.returned_data == [data]
    assert not bench.endpoints[0].unanswered
    return token


async def give(bench: Bench, data: bytes = DATA, to: int = 1) -> None:
    """Send a request whose bytes the program changes at once, and wait for its end."""
    buffer = bytearray(data)
    if data:
        await bench.endpoints[0].request_i(to, KEEP, buffer, *WORDS)
        buffer[:] = bytes(len(data))
    else:
        await bench.endpoints[0].request(to, KEEP, *WORDS)
    await bench.until(0, 0)


def after(bench: Bench) -> None:
    """Check that messages are delivered as before."""
    bench.run(bench.send(0, 1, 9), bench.until(0, 1), bench.until(1, 1))
    assert bench.came[0][-1] == (True, 1, (18,), b"")


@each_nic
@pytest.mark.parametrize("data", [b"", DATA])
def test_an_unacknowledged_message_is_sent_256_times_and_then_returned(nic: str, data: bytes) -> None:
    timeout = 100 if data else 40
    bench = Bench(nic=nic, timeout_us=timeout)
    faults = bench.machine.faults
    first = faults.passed(0, 1)
    for number in range(256):
        faults.drop(0, 1, first + number)
    begun = bench.machine.kernel.now
    bench.run(give(bench, data))
    comes_back(bench, Code.UNREACHABLE, data, "request medium" if data else "request short")
    assert faults.passed(0, 1) - first == 256
    assert (bench.machine.kernel.now - begun) / (256 * timeout * 1e6) == pytest.approx(1, abs=0.1)
    assert bench.machine.nic(0).load(Word.RESENT) == 255
    after(bench)


@each_nic
def test_a_message_received_at_the_256th_transmission_arrives_once(nic: str) -> None:
    bench = Bench(nic=nic, timeout_us=TIMEOUT_US * 3)
    faults = bench.machine.faults
    first = faults.passed(0, 1)
    for number in range(255):
        faults.drop(0, 1, first + number)
    bench.run(give(bench, b""), bench.until(1, 1))
    assert bench.came[1] == [(False, 0, WORDS, b"")]
    assert not bench.back[0]
    assert faults.passed(0, 1) - first >= 256


def test_a_message_with_lost_acknowledgements_is_handled_once() -> None:
    bench = Bench(timeout_us=50)
    faults = bench.machine.faults
    for number in range(3):
        faults.drop(1, 0, faults.passed(1, 0) + number)
    bench.run(give(bench, b""), bench.until(1, 1))
    assert bench.came[1] == [(False, 0, WORDS, b"")]
    assert bench.machine.nic(1).load(Word.DUPLICATES) >= 1


def test_the_option_retries_limits_the_retransmissions() -> None:
    bench = Bench(timeout_us=TIMEOUT_US, retries=3)
    faults = bench.machine.faults
    first = faults.passed(0, 1)
    for number in range(4):
        faults.drop(0, 1, first + number)
    bench.run(give(bench))
    comes_back(bench, Code.UNREACHABLE)
    assert faults.passed(0, 1) - first == 4


# ---- who judges


@each_nic
@pytest.mark.parametrize(
    ("mine", "its", "code"),
    [(TAG, TAG, None), (TAG, TAG + 1, Code.BAD_TAG), (TAG, NEVER, Code.BAD_TAG), (NEVER, NEVER, Code.BAD_TAG),
     (TAG, ALWAYS, None), (ALWAYS, TAG, Code.BAD_TAG)],
)  # fmt: skip
def test_the_receiver_compares_the_tag(nic: str, mine: int, its: int, code: Code | None) -> None:
    bench = Bench(nic=nic)
    bench.endpoints[0].map(1, bench.endpoints[1].name, mine)
    bench.run(bench.endpoints[1].set_tag(its))
    bench.run(give(bench), bench.until(1, int(code is None)))
    if code is not None:
        comes_back(bench, code)
        assert bench.machine.nic(1).load(Word.REFUSED) == 1
    assert len(bench.came[1]) == int(code is None)


def test_a_forged_tag_is_rejected_by_the_receiving_nic() -> None:
    bench = Bench()
    host, at = bench.machine.host(0), FRAMES + 8
    original = host.pio_write

    async def forged(address: int, data: bytes, combine: bool = False) -> None:
        if address == host.nic_base + at - 4:
            data = data[:4] + bytes(8) + data[12:]
        await original(address, data, combine)

    host.pio_write = forged  # type: ignore[method-assign]
    before = bench.machine.faults.passed(0, 1)
    bench.run(give(bench))
    comes_back(bench, Code.BAD_TAG)
    assert bench.machine.faults.passed(0, 1) == before + 1
    assert [bench.machine.nic(node).load(Word.REFUSED) for node in range(2)] == [0, 1]


def test_a_message_in_flight_during_a_change_of_the_tag_is_returned() -> None:
    bench = Bench()
    faults = bench.machine.faults
    faults.delay(0, 1, faults.passed(0, 1), 200_000_000)

    async def change() -> None:
        await bench.machine.kernel.sleep(50_000_000)
        await bench.endpoints[1].set_tag(TAG + 1)

    bench.run(give(bench), change())
    comes_back(bench, Code.BAD_TAG)


@pytest.mark.parametrize(
    ("to", "code"),
    [(EndpointName(1, 5), Code.BAD_ENDPOINT), (EndpointName(9, 0), Code.UNREACHABLE)],
)
def test_messages_to_unknown_destinations_are_returned(to: EndpointName, code: Code) -> None:
    bench = Bench()
    before = bench.machine.faults.passed(0, 1)
    bench.endpoints[0].map(7, to, TAG)
    bench.run(give(bench, to=7))
    assert comes_back(bench, code).source == to
    assert bench.machine.faults.passed(0, 1) - before == int(code is Code.BAD_ENDPOINT)
    after(bench)


@pytest.mark.parametrize("full", ["silent", "nack"])
def test_a_full_queue_delays_messages_or_returns_them(full: str) -> None:
    bench = Bench(full=full, credits=32, timeout_us=60, each=2)
    one, other = bench.bundles[0].endpoints

    async def fill() -> None:
        for number in range(32):
            await one.request(1, KEEP, number)
        for number in range(32, 40):
            await other.request(1, KEEP, number)
        await bench.machine.kernel.sleep(400_000_000)
        assert not bench.came[1]
        bench.machine.kernel.spawn(bench.until(1, 40 if full == "silent" else 32), "the receiver")
        await bench.until(0, 0)

    bench.run(fill())
    came = sorted(words[0] for _, _, words, _ in bench.came[1])
    back = sorted(token.arguments[0] for token in bench.back[0])
    assert sorted(came + back) == list(range(40))
    assert len(back) == (8 if full == "nack" else 0)
    assert {token.status for token in bench.back[0]} <= {Code.CONGESTION}
    assert bool(bench.machine.nic(1).load(Word.DROPPED)) == (full == "silent")


def changed(bench: Bench, node: int, offset: int, word: Any) -> None:
    """Change a word of the next request descriptor on its way into the frame by `word(old)`."""
    host = bench.machine.host(node)
    original, at = host.pio_write, host.nic_base + FRAMES

    async def other(address: int, data: bytes, combine: bool = False) -> None:
        begin = offset - (address - at)
        if at <= address < at + 64 and 0 <= begin < len(data):
            new = word(int.from_bytes(data[begin : begin + 4], "big"))
            data = data[:begin] + new.to_bytes(4, "big") + data[begin + 4 :]
        await original(address, data, combine)

    host.pio_write = other  # type: ignore[method-assign]


def test_the_receiving_library_returns_a_message_for_an_unknown_handler() -> None:
    bench = Bench()
    changed(bench, 0, 0, lambda word: word & ~0xFF | 77)
    bench.run(give(bench), bench.until(1, 0), _look(bench, 1))
    comes_back(bench, Code.BAD_HANDLER)


def test_the_receiving_library_returns_a_message_with_nine_arguments() -> None:
    bench = Bench()
    changed(bench, 0, 0, lambda word: word | 9 << 16)
    bench.run(give(bench, b""), _look(bench, 1))
    comes_back(bench, Code.BAD_ARGUMENTS, b"", "request short")


@pytest.mark.parametrize("word", [8193 << 16, 8 << 16 | 16])
def test_the_sending_nic_returns_messages_with_an_invalid_length_or_staging_block(word: int) -> None:
    bench = Bench()
    before = bench.machine.faults.passed(0, 1)
    changed(bench, 0, 16, lambda _: word)
    bench.run(give(bench, b"x" * 8))
    (token,) = bench.back[0]
    assert token.status is Code.BAD_LENGTH
    assert bench.machine.faults.passed(0, 1) == before


async def _look(bench: Bench, node: int) -> None:
    """Poll until a message has been handled."""
    while not await bench.bundles[node].poll():
        await bench.machine.kernel.sleep(1_000_000)


def test_a_reply_without_a_handler_is_rejected_and_returned_to_its_sender() -> None:
    bench = Bench()

    async def odd(token: Token) -> None:
        await token.reply_i(99, DATA, *WORDS)

    bench.endpoints[1].set_handler(3, odd)

    async def ask() -> None:
        await bench.endpoints[0].request(1, 3)
        await bench.until(0, 0)

    bench.run(ask(), bench.bundles[1].until(lambda: bool(bench.back[1])))
    (token,) = bench.back[1]
    assert (token.status, token.opcode, token.arguments) == (Code.REPLY_REJECTED, "reply medium", WORDS)
    assert bench.returned_data == [DATA]


def test_a_returned_message_without_a_handler_raises_an_error() -> None:
    bench = Bench()
    fresh = bench.run(bench.bundles[0].allocate_endpoint())[0]
    fresh.map(0, EndpointName(1, 6), TAG)

    async def ask() -> None:
        await fresh.request(0, KEEP)
        await bench.bundles[0].until(lambda: not fresh.unanswered)

    with pytest.raises(Am2Error, match="returned request short to .*: bad endpoint; set handler 0"):
        bench.run(ask())


def test_the_descriptor_of_a_finished_message_is_free() -> None:
    bench = Bench()
    bench.run(give(bench, b""), bench.until(1, 1))
    bench.run(bench.machine.kernel.sleep(30_000_000))
    at = descriptor(FRAMES, Queue.REQUEST_SEND, 0)
    assert not bench.machine.nic(0).load(at) & OWNED


def test_a_hang_report_names_the_missing_acknowledgement_and_its_transmission() -> None:
    bench = Bench(timeout_us=40)
    faults = bench.machine.faults
    for number in range(256):
        faults.drop(0, 1, faults.passed(0, 1) + number)
    with pytest.raises(MachineError) as report:
        bench.run(give(bench, b""), within_us=100)
    assert "NIC 0 waits for the acknowledgement of transmission 3 of endpoint 0's message 0, held by NIC 1" in str(
        report.value
    )
    assert "host0: process 1 waits for 0 messages" in str(report.value)


@each_nic
def test_returned_replies_keep_their_payload_while_their_sender_sends_more(nic: str) -> None:
    bench = Bench(nic=nic, credits=12)
    sizes = (0, 700, 8, 512, 0, 33, 1000, 4, 700, 12, 8, 2000)

    async def answer(token: Token) -> None:
        (number,) = token.arguments
        await token.reply_i(KEEP, bytes([number]) * sizes[number], number)

    bench.endpoints[1].set_handler(9, answer)

    async def ask() -> None:
        for number in range(len(sizes)):
            await bench.endpoints[0].request(1, 9, number)
        await bench.machine.kernel.sleep(500_000_000)
        await bench.endpoints[0].set_tag(TAG + 1)
        await _look(bench, 1)  # all of them, and there are four blocks for the answers

    bench.run(ask())
    bench.run(bench.bundles[1].until(lambda: len(bench.back[1]) == len(sizes)), within_us=1e4)
    kept = zip(bench.back[1], bench.returned_data, strict=True)
    found = sorted((token.arguments[0], data, token.status, token.opcode.split()[0]) for token, data in kept)
    assert found == [(n, bytes([n]) * size, Code.BAD_TAG, "reply") for n, size in enumerate(sizes)]


@each_nic
def test_a_message_with_a_late_acknowledgement_is_not_sent_again_after_a_wrap_of_its_queue(nic: str) -> None:
    bench = Bench(nic=nic, credits=32, timeout_us=5000)
    faults = bench.machine.faults

    async def program() -> None:
        faults.drop(1, 0, faults.passed(1, 0))
        for number in range(40):
            await bench.endpoints[0].request(1, KEEP, number)
        await bench.until(0, 0)

    bench.run(program(), bench.until(1, 40))
    assert [words for _, _, words, _ in bench.came[1]] == [(number,) for number in range(40)]
    assert bench.machine.nic(0).load(Word.RESENT) == bench.machine.nic(1).load(Word.DUPLICATES) == 1
