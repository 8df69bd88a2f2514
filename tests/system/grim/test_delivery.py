"""All hosts send to all others, receivers stop and start, and every message arrives once, in order and unchanged.

Strategy: sizes, order, and pauses in which a host neither sends nor polls are random. Host queues are so small that
they fill, so that the NIs reject messages and roll back. The scenario checks number and bytes of each message in its
handler. Counters of the NIs must agree with what was sent, and show NACKs and roll-backs. Eight hosts run on Verilator,
three with still smaller queues on Icarus.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.builders import host_names, single_switch
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from tests.system.runs import must

SMALL_QUEUES = "grim.segment_bytes=2048 grim.host_queue_bytes=8192 grim.queue_bytes=16384"
SMALLER = "grim.segment_bytes=512 grim.host_queue_bytes=2048 grim.queue_bytes=16384"


def three_hosts(folder: Path) -> str:
    """Return the configuration file of three hosts at one switch."""
    return str(write(cluster_on("three", single_switch(host_names(3))), folder, "Three hosts"))


@pytest.mark.parametrize(
    ("hosts", "simulator", "settings"),
    [
        (8, "verilator", f"each=10 {SMALL_QUEUES}"),
        (3, "icarus", f"each=2 largest=600 stop_percent=40 {SMALLER}"),
        (2, "verilator", f"each=60 grim.window=3 stop_percent=40 {SMALL_QUEUES}"),
    ],
)
def test_every_message_arrives_once_and_in_order(hosts: int, simulator: str, settings: str, tmp_path: Path) -> None:
    cluster = {2: "two_hosts", 3: three_hosts(tmp_path / "three"), 8: "eight_hosts"}[hosts]
    done = must("all_to_all", simulator, tmp_path, settings, cluster=cluster)
    counted, each = done.metrics, int(settings.split(maxsplit=1)[0].removeprefix("each="))
    assert counted["handled"] == each * hosts * (hosts - 1)
    assert counted["nacks_sent"] > 0, "a full host queue refuses messages"
    assert counted["rolled_back"] > 0, "and what was sent after them is taken back"
    assert counted["bad_crc"] == counted["strange"] == counted["overlong"] == 0
