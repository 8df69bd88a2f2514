"""AM-II misuses: an error for the caller, and no effect on others.

Strategy: the table of the page, row by row; the port must work afterwards. Then a process writes random words into its
own frame, as a program without the library can. The NICs must continue, no word outside of that frame may change, and
messages of others must arrive.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.am2.host import Am2Error, Code, EndpointName, Token
from firmware.am2.nic.layout import ENDPOINTS, FRAME, ROW, Word
from pymodels.host.faults import ProtectionFault
from tests.unit.am2.am2_bench import KEEP, TAG, Bench

Misuse = Callable[[Bench], Any]
MISUSES: dict[str, tuple[Misuse, Code, str]] = {
    "a free translation": (lambda b: b.endpoints[0].request(9, KEEP), Code.BAD_ENTRY, "translation 9 is free; map it"),
    "no index": (lambda b: b.endpoints[0].request(256, KEEP), Code.BAD_ENTRY, "translation 256; give 0 to 255"),
    "a name": (lambda b: b.endpoints[0].request("metz", KEEP), Code.BAD_ENTRY, "translation 'metz'"),  # type: ignore[arg-type]
    "unmapping nothing": (lambda b: b.endpoints[0].unmap(9), Code.BAD_ENTRY, "translation 9 is free"),
    "handler 0": (lambda b: b.endpoints[0].request(1, 0), Code.BAD_HANDLER, "handler 0; give 1 to 255"),
    "handler 256": (lambda b: b.endpoints[0].request(1, 256), Code.BAD_HANDLER, "handler 256; give 1 to 255"),
    "a handler's index": (lambda b: b.endpoints[0].set_handler(256, b.keep), Code.BAD_HANDLER, "give 0 to 255"),
    "no function": (lambda b: b.endpoints[0].set_handler(4, 7), Code.BAD_HANDLER, "handler 4 is 7; give a function"),  # type: ignore[arg-type]
    "nine words": (lambda b: b.endpoints[0].request(1, KEEP, *range(9)), Code.BAD_ARGUMENTS, "9 arguments; give 8"),
    "a negative word": (lambda b: b.endpoints[0].request(1, KEEP, -1), Code.BAD_ARGUMENTS, "give integers from 0 to"),
    "a long word": (lambda b: b.endpoints[0].request(1, KEEP, 1 << 32), Code.BAD_ARGUMENTS, "give integers from 0 to"),
    "half a word": (lambda b: b.endpoints[0].request(1, KEEP, 0.5), Code.BAD_ARGUMENTS, "give integers"),  # type: ignore[arg-type]
    "long data": (lambda b: b.endpoints[0].request_i(1, KEEP, bytes(8193)), Code.BAD_LENGTH, "at most 8192 of them"),
    "text": (lambda b: b.endpoints[0].request_i(1, KEEP, "x"), Code.BAD_LENGTH, "data must be bytes"),  # type: ignore[arg-type]
    "a long tag": (lambda b: b.endpoints[0].set_tag(1 << 64), Code.BAD_TAG, "give an integer from 0 to"),
    "a tag to map": (lambda b: b.endpoints[0].map(3, EndpointName(1, 0), -1), Code.BAD_TAG, "tag -1; give an integer"),
    "node 256": (lambda b: b.endpoints[0].map(3, EndpointName(256, 0), TAG), Code.BAD_ENDPOINT, "give the name of an"),
    "endpoint 127": (lambda b: b.endpoints[0].map(3, EndpointName(1, 127), TAG), Code.BAD_ENDPOINT, "give the name of"),
    "weight 0": (lambda b: b.bundles[0].allocate_endpoint(0), Code.BAD_ARGUMENTS, "weight 0; give 1 to 65535"),
    "another process": (
        lambda b: b.bundles[0].move_endpoint(b.endpoints[0], b.bundles[1]),
        Code.BAD_ARGUMENTS,
        "not in this bundle",
    ),
    "waiting for nothing": (lambda b: b.libraries[0].allocate_bundle().wait(), Code.BAD_ARGUMENTS, "has no endpoint"),
}


def works(bench: Bench) -> None:
    """Check that endpoint 0 of node 0 works as before."""

    def asked() -> bool:
        return (False, 0, (77,), b"") in bench.came[1]

    answered = bench.bundles[0].until(lambda: (True, 1, (154,), b"") in bench.came[0])
    bench.run(bench.send(0, 1, 77), answered, bench.bundles[1].until(asked), within_us=1e4)


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(name: str) -> None:
    bench = Bench()
    call, code, said = MISUSES[name]
    before = bench.machine.faults.passed(0, 1)
    with pytest.raises(Am2Error, match=said) as error:
        bench.run(_made(call, bench))
    assert error.value.code is code
    assert bench.machine.faults.passed(0, 1) == before
    works(bench)


async def _made(call: Misuse, bench: Bench) -> None:
    done = call(bench)
    if isinstance(done, Awaitable):
        await done


def test_all_endpoints_can_be_allocated_and_freed_ones_again() -> None:
    bench = Bench(frames=2, each=2)
    bench.run(*(bench.bundles[0].allocate_endpoint() for _ in range(ENDPOINTS - 2)), within_us=1e5)
    with pytest.raises(Am2Error, match="all 64 endpoints of host host0 are in use; free an endpoint"):
        bench.run(bench.bundles[0].allocate_endpoint())
    bench.run(bench.bundles[0].endpoints[1].free())
    again = bench.run(bench.bundles[0].allocate_endpoint())[0]
    assert again.name == EndpointName(0, 1)
    works(bench)


def test_freeing_an_endpoint_with_messages_in_flight_does_not_affect_others() -> None:
    bench = Bench(each=2, timeout_us=30)
    freed, faults = bench.bundles[0].endpoints[1], bench.machine.faults
    for number in range(4):
        faults.drop(0, 1, faults.passed(0, 1) + number)

    async def leave() -> None:
        for number in range(4):
            await freed.request(1, KEEP, number)
        await freed.free()
        with pytest.raises(Am2Error, match="already freed; allocate another endpoint"):
            await freed.request(1, KEEP)
        with pytest.raises(Am2Error, match="already freed"):
            await freed.free()

    bench.run(leave())
    with pytest.raises(ProtectionFault):
        bench.run(bench.libraries[0].process.pio_read(freed._granted.frame))
    bench.run(bench.machine.kernel.sleep(200_000_000))
    assert bench.machine.nic(0).load(Word.RESENT) <= 4
    works(bench)


async def refusals(bench: Bench, token: Token) -> list[str]:
    """Return the reasons for which a handler may neither request nor reply."""
    found = []
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: bench.endpoints[bench.node(token)].request(1, KEEP),
        lambda: token.reply(KEEP),
    ]
    for call in calls:
        with pytest.raises(Am2Error) as error:
            await call()
        found.append(error.value.cause)
    return found


def test_the_handler_of_a_request_can_only_reply_once() -> None:
    bench, refused = Bench(), list[str]()

    async def sends(token: Token) -> None:
        await token.reply(KEEP)
        refused.extend(await refusals(bench, token))

    bench.endpoints[1].set_handler(5, sends)
    bench.run(bench.send(0, 1, handler=5), bench.until(0, 1), bench.bundles[1].until(lambda: bool(refused)))
    assert refused == ["the handler of a request short makes it", "the request has its reply"]


def test_the_handler_of_a_reply_cannot_send() -> None:
    bench, refused = Bench(), list[str]()

    async def asked(token: Token) -> None:
        await token.reply(6)

    async def sends(token: Token) -> None:
        refused.extend(await refusals(bench, token))

    bench.endpoints[1].set_handler(5, asked)
    bench.endpoints[0].set_handler(6, sends)
    far, over = bench.endpoints[1], bench.bundles[0].until(lambda: bool(refused))
    bench.run(bench.send(0, 1, handler=5), over, bench.bundles[1].until(lambda: far.handled == 1))
    assert refused == ["the handler of a reply short makes it", "the message is a reply, or was returned"]


def test_the_handler_of_a_returned_message_cannot_send() -> None:
    bench, refused = Bench(), list[str]()

    async def sends(token: Token) -> None:
        refused.extend(await refusals(bench, token))

    bench.endpoints[0].set_handler(0, sends)
    bench.endpoints[0].map(7, EndpointName(1, 60), TAG)
    bench.run(bench.send(0, 7), bench.bundles[0].until(lambda: bool(refused)))
    assert refused == ["the handler of a request short makes it", "the message is a reply, or was returned"]


# ---- a hostile process


@pytest.mark.parametrize("seed", range(4))
def test_random_words_in_a_frame_affect_no_other_process(seed: int) -> None:
    bench = Bench(3, timeout_us=40, retries=3)
    rng, nic, host = random.Random(seed), bench.machine.nic(0), bench.machine.host(0)
    hostile = bench.run(bench.layers[0].init().allocate_bundle().allocate_endpoint())[0]
    bench.run(hostile.set_tag(TAG))
    rows = nic.load_words(Word.ROWS, ENDPOINTS * ROW // 4)
    guard = host.allocate(1 << 16)
    guard.view[:] = b"\xa5" * len(guard.view)

    async def write() -> None:
        for _ in range(120):
            at = rng.randrange(0, FRAME // 4) * 4
            word = rng.getrandbits(32)
            if rng.random() < 0.5:  # one that looks like a descriptor
                at, word = at & ~63, 1 << 31 | rng.getrandbits(31)
            await hostile.process.pio_write(hostile._granted.frame + at, word.to_bytes(4, "big"))

    async def others() -> None:
        for number in range(12):
            await bench.send(1, 2, number, data=bytes([number]) * 40)
        await bench.until(1, 12)

    bench.run(write(), others(), bench.until(2, 12), within_us=1e4)
    bench.run(bench.machine.kernel.sleep(1_000_000_000))
    assert [words for _, _, words, _ in bench.came[2]] == [(number,) for number in range(12)]
    assert nic.load_words(Word.ROWS, ENDPOINTS * ROW // 4) == rows
    assert bytes(guard.view) == b"\xa5" * len(guard.view)
    works(bench)
    with pytest.raises(ProtectionFault):
        bench.run(hostile.process.pio_write(hostile._granted.frame + FRAME, bytes(4)))


@pytest.mark.parametrize("seed", range(2))
def test_random_words_in_the_copy_of_an_absent_frame_affect_no_other_process(seed: int) -> None:
    bench = Bench(2, frames=1, timeout_us=40, retries=3)
    rng, nic, host = random.Random(seed), bench.machine.nic(0), bench.machine.host(0)
    hostile = bench.run(bench.layers[0].init().allocate_bundle().allocate_endpoint())[0]
    granted = hostile._granted
    bench.run(hostile.set_tag(TAG))
    guard = host.allocate(1 << 16)
    guard.view[:] = b"\xa5" * len(guard.view)

    async def write() -> None:
        for number in range(6):
            await bench.send(0, 1, 100, number, handler=KEEP)  # now the hostile one is absent
            await bench.machine.kernel.sleep(300_000_000)
            for _ in range(60):
                at = rng.randrange(0, FRAME // 64) * 64
                words = 1 << 31 | rng.getrandbits(31), rng.getrandbits(8) << 16
                hostile.process.store_words(granted.copy + at, words)
            await granted.store(64, bytes(4))
            await bench.machine.kernel.sleep(300_000_000)

    bench.run(write(), bench.bundles[1].until(lambda: len(bench.came[1]) >= 6), within_us=1e5)
    assert [words for _, _, words, _ in bench.came[1] if words[:1] == (100,)] == [(100, number) for number in range(6)]
    assert bytes(guard.view) == b"\xa5" * len(guard.view)
    assert not any(nic.load_words(Word.ROWS + 2 * ROW, (ENDPOINTS - 2) * ROW // 4))

    async def asks() -> None:
        await bench.send(0, 1, 77)
        await bench.bundles[0].until(lambda: (True, 1, (154,), b"") in bench.came[0])

    bench.run(asks(), bench.bundles[1].until(lambda: (False, 0, (77,), b"") in bench.came[1]), within_us=1e4)
