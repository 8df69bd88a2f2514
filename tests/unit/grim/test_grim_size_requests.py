"""Queue sizes in the configuration file.

Strategy: nodes of one cluster request different sizes; each gets its own, and messages arrive. A request over capacity
gets what is available, with a warning that names the line. An option overrides the line. A size without room for a
message is rejected with the line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import HostQueue
from firmware.options import OptionError
from pymodels.config import QueueRequest
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_traffic import AllToAll

CHANNELS = 4


def asking(*sizes: dict[str, int], **options: Any) -> Bench:
    """Return a cluster whose nodes request sizes by resource, node i in line i of its file."""
    bench = Bench(len(sizes), start_nics=False, channels=CHANNELS, **options)
    for node, asked in enumerate(sizes):
        queues = tuple(QueueRequest(resource, size, f"grim_config:{node}") for resource, size in asked.items())
        bench.views[node] = replace(bench.views[node], queues=queues)
        bench.libraries[node] = Grim(bench.machine.host(node), bench.views[node])
        bench.start_nic(node)
    return bench


def test_each_node_gets_the_queue_sizes_that_it_requests() -> None:
    bench = asking({"MYRI": 40_000}, {"HOST": 50_000}, {"MYRI": 60_000, "HOST": 70_000})
    AllToAll(bench, 20, [0, 100, 5000]).run()
    layouts = [library.layout for library in bench.libraries]
    assert [layout.queue_bytes for layout in layouts] == [40_000, 1 << 18, 60_000]
    assert [layout.queues[1] - layout.queues[0] for layout in layouts] == [40_000, 1 << 18, 60_032]
    host = [HostQueue.RING + layout.host_limit + layout.host_slot for layout in layouts]
    assert host == [1 << 18, 50_000, 70_000]
    assert all(library.warnings == () for library in bench.libraries)


def test_size_above_the_capacity_is_reduced_with_a_warning() -> None:
    bench = asking({"MYRI": 1 << 22, "HOST": 1 << 30}, {})
    library = bench.libraries[0]
    queue_bytes = library.layout.queue_bytes
    assert library.options.host_queue_bytes == 1 << 26
    assert library.warnings == (
        f"grim_config:0: queue size of MYRI: {1 << 22} bytes exceed the capacity; {queue_bytes} are used",
        f"grim_config:0: queue size of HOST: {1 << 30} bytes exceed the capacity; {1 << 26} are used",
    )
    assert library.layout.end <= library.layout.sram_bytes
    assert bench.libraries[1].warnings == ()


def test_option_overrides_the_configuration() -> None:
    bench = asking({"MYRI": 40_000}, queue_bytes=50_000)
    assert bench.libraries[0].layout.queue_bytes == 50_000


@pytest.mark.parametrize(("resource", "size", "holds"), [("MYRI", 8000, 8000), ("HOST", 9000, 9000)])
def test_queue_too_small_for_three_segments_is_rejected_at_its_line(resource: str, size: int, holds: int) -> None:
    with pytest.raises(OptionError) as caught:
        asking({resource: size})
    where = f"grim_config:0: queue size of {resource}"
    assert str(caught.value) == f"{where}: {holds} bytes have no room for three segments of 4096; request more"


def test_queues_of_an_fpga_card_have_the_requested_size() -> None:
    bench = Bench(2, channels=2)
    cards = (frozenset({"MYRI", "CELOXICA"}), frozenset({"MYRI"}))
    queues = (QueueRequest("CELOXICA", 20_000, "grim_config:9"),)
    library: Grim = Grim(bench.machine.host(0), replace(bench.views[0], cards=cards, queues=queues))
    assert library.layout.card_queue_bytes == 20_000
    small = (QueueRequest("CELOXICA", 4000, "grim_config:9"),)
    with pytest.raises(OptionError, match="card_queue_bytes: 4000 bytes have no room for three segments of 4096"):
        Grim(bench.machine.host(0), replace(bench.views[0], cards=cards, queues=small))
