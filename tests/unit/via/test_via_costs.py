"""Charges of VIA's library calls: a path for each, and a lock for data that threads or processes share.

Strategy: locks are counted in the compiled table, where a locked instruction is an uncached access. The paths charged
by processes of two connected hosts are recorded while they post and poll. The total of a post must be the published
value of the profile that names it.
"""

from __future__ import annotations

from typing import Any

import pytest

from pymodels.costs.table import PathTable
from pymodels.costs.targets import POWERPC
from pymodels.hardware.processors import HostProcessor, host_clocks
from pymodels.profiles import load_profile
from tests.unit.via.via_bench import Pair, pair

LOCKED = (
    *("post_user", "look_done", "look_entry"),
    *("post_send", "post_receive", "post_refused", "sleep_in_kernel", "refill_cache", "give_command", "agent_send"),
    *("register_region", "register_page", "create_vi", "destroy_vi", "create_queue", "destroy_queue"),
)


@pytest.mark.parametrize("path", LOCKED)
def test_paths_that_change_shared_data_take_a_lock(path: str) -> None:
    assert PathTable.load("host", "via").cost(path).uncached == 1


def test_shared_words_are_uncached_on_the_sp_adapter() -> None:
    table = PathTable.of_nic("via", POWERPC)
    assert table.cost("user_status").uncached == table.cost("write_status").uncached == 1


@pytest.mark.parametrize(
    ("paths", "beside", "total"),
    [(["post_user"], "post_user_ns", 270), (["post_send", "post_page"], "post_kernel_ns", 1630)],
)
def test_the_cost_of_a_post_is_the_published_value(paths: list[str], beside: str, total: int) -> None:
    """Compare with Table 3.2, for a descriptor with one page."""
    profile, table = load_profile("lanai9+p3-450"), PathTable.load("host", "via")
    clocks = sum(host_clocks(table.cost(path), HostProcessor.from_profile(profile)) for path in paths)
    compiled = clocks * 1000 / profile.number("host.clock_mhz")
    assert compiled + profile.number(f"host.{beside}") == pytest.approx(total, abs=1)


def charged(p: Pair, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which paths charged by the far process are appended from now on."""
    paths: list[str] = []
    process = p.there.process
    spend, poll = process.spend, process.poll

    async def spending(path: str, times: int = 1) -> None:
        paths.append(path)
        await spend(path, times)

    async def polling(watches: Any, path: str, *moves: Any) -> int:
        paths.append(f"poll {path}")
        return await poll(watches, path, *moves)

    monkeypatch.setattr(process, "spend", spending)
    monkeypatch.setattr(process, "poll", polling)
    return paths


def test_a_poll_charges_the_call_that_it_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    p = pair()
    paths = charged(p, monkeypatch)

    async def run() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 64)]))
        await p.yours.poll_receive()

    async def send() -> None:
        await p.machine.host(0).sleep(50_000_000)
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 64)]))

    p.machine.finish(run(), send())
    assert paths == ["post_user", "post_receive", "post_page", "poll look_done", "take_done"]
