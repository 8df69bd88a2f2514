"""AM-II queries, table sizes, names, and freed bundles.

Strategy: each call once with valid arguments, and with invalid ones and their codes; none uses the network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware.am2.host import Am2Error, Code, EndpointName, Limits, Mask
from tests.unit.am2.am2_bench import KEEP, TAG, Bench

MISUSES: dict[str, tuple[Callable[[Bench], Any], Code, str]] = {
    "a mask": (lambda b: b.bundles[0].set_event_mask(2), Code.BAD_ARGUMENTS, "2; give NONE or NOT_EMPTY"),  # type: ignore[arg-type]
    "no handlers": (lambda b: b.endpoints[0].set_handlers(0), Code.BAD_HANDLER, "0 handlers; give 1 to 256"),
    "257 handlers": (lambda b: b.endpoints[0].set_handlers(257), Code.BAD_HANDLER, "257 handlers; give 1 to 256"),
    "half a translation": (lambda b: b.endpoints[0].set_translations(0.5), Code.BAD_ENTRY, "0.5 translations; give 1"),  # type: ignore[arg-type]
    "257 translations": (lambda b: b.endpoints[0].set_translations(257), Code.BAD_ENTRY, "257 translations; give 1"),
    "a translation's use": (lambda b: b.endpoints[0].in_use(256), Code.BAD_ENTRY, "translation 256; give 0 to 255"),
    "a free translation": (lambda b: b.endpoints[0].translation(9), Code.BAD_ENTRY, "translation 9 is free"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_an_invalid_call_raises_an_error_with_the_cause(name: str) -> None:
    call, code, said = MISUSES[name]
    with pytest.raises(Am2Error, match=said) as error:
        call(Bench())
    assert error.value.code is code


@pytest.mark.parametrize(
    ("host", "endpoint", "said"),
    [("metz", 0, "unknown host 'metz'; give one of host0, host1"), ("host1", 64, "endpoint 64; give 0 to 63")],
)
def test_the_name_server_rejects_unknown_names(host: str, endpoint: int, said: str) -> None:
    bench = Bench()
    with pytest.raises(Am2Error, match=said) as error:
        bench.run(bench.libraries[0].lookup(host, endpoint))
    assert error.value.code is Code.BAD_ENDPOINT


def test_messages_to_a_looked_up_name_reach_its_endpoint() -> None:
    bench = Bench(each=2)
    name = bench.run(bench.libraries[0].lookup("host1", 1))[0]
    assert name == bench.bundles[1].endpoints[1].name
    near = bench.endpoints[0]
    index = near.map_any(name, TAG)
    bench.run(near.request(index, KEEP, 3), bench.until(1, 1))
    assert bench.came[1] == [(False, 0, (3,), b"")]


def test_an_endpoint_returns_its_translations() -> None:
    near = Bench().endpoints[0]
    assert near.translation(1) == (EndpointName(1, 0), TAG)
    assert [near.in_use(index) for index in (1, 9)] == [True, False]


def test_reducing_a_table_drops_the_entries_beyond() -> None:
    bench = Bench()
    near = bench.endpoints[0]
    assert (near.handlers, near.translations) == (256, 256)
    near.set_handlers(2)
    near.set_translations(1)
    assert (near.handlers, near.translations, near.in_use(0)) == (2, 1, True)
    with pytest.raises(Am2Error, match="translation 1; give 0 to 0"):
        near.translation(1)
    with pytest.raises(Am2Error, match="handler 2; give 0 to 1"):
        near.set_handler(2, bench.keep)
    with pytest.raises(Am2Error, match="no free handler index"):
        near.set_handler_any(bench.keep)
    near.set_translations(2)
    assert not near.in_use(1)


def test_a_message_for_a_removed_handler_is_returned() -> None:
    bench = Bench()
    bench.endpoints[1].set_handlers(1)
    bench.run(bench.send(0, 1), bench.bundles[0].until(lambda: bool(bench.back[0])), bench.until(1, 0), _polls(bench))
    assert bench.back[0][0].status is Code.BAD_HANDLER


async def _polls(bench: Bench) -> None:
    while not bench.back[0]:
        await bench.bundles[1].poll()


def test_the_limits_are_those_of_the_options() -> None:
    assert Bench(medium=1024).libraries[0].limits == Limits(8, 1024, (1 << 32) - 1, 256, 256, 64)


def test_freeing_a_bundle_frees_its_endpoints_and_keeps_it_usable() -> None:
    bench = Bench(each=2)
    old = list(bench.bundles[0].endpoints)
    bench.run(bench.bundles[0].free())
    assert not any(one.is_open for one in old)
    again = bench.run(bench.bundles[0].allocate_endpoint())[0]
    assert (again.name, again.is_open) == (EndpointName(0, 0), True)


def test_the_event_mask_is_the_one_that_was_set() -> None:
    bundle = Bench().bundles[0]
    found = [bundle.event_mask]
    bundle.set_event_mask(Mask.NOT_EMPTY)
    assert [*found, bundle.event_mask] == [Mask.NONE, Mask.NOT_EMPTY]


def test_two_threads_that_poll_a_bundle_handle_each_message_once() -> None:
    bench = Bench(credits=12)

    async def send() -> None:
        for number in range(12):
            await bench.endpoints[0].request(1, KEEP, number)
        await bench.machine.kernel.sleep(200_000_000)

    bench.run(send())
    frame = bench.endpoints[1]._frame
    read = frame.read

    async def interrupted(*what: Any) -> Any:
        """Give the CPU to the other thread between the check for a message and its handler."""
        token = await read(*what)
        await bench.endpoints[1].process.give_way()
        return token

    frame.read = interrupted  # type: ignore[method-assign, assignment]
    bench.run(bench.bundles[1].poll(), bench.bundles[1].poll())
    frame.read = read  # type: ignore[method-assign]
    bench.run(bench.until(0, 0))
    assert sorted(words for _, _, words, _ in bench.came[1]) == [(number,) for number in range(12)]
