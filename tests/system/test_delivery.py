"""All hosts send to all others, receivers stop and start, and every message arrives once, in order and unharmed.

Strategy: random sizes, random order, random pauses in which a host neither sends nor polls; host queues so small that
they fill, so that the NIs refuse messages and roll back. The scenario checks number and bytes of each message where
it arrives; here the NIs' counters must agree with what was sent, and show that there were NACKs and roll-backs. Eight
hosts on Verilator, four on Icarus.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.builders import host_names, single_switch
from pymodels.config.generate import drawn
from pymodels.config.writer import write
from tests.system.runs import must

SMALL_QUEUES = "grim.segment_bytes=2048 grim.host_queue_bytes=8192 grim.queue_bytes=16384"


def four_hosts(folder: Path) -> str:
    """The configuration file of four hosts on one switch."""
    return str(write(drawn("four", single_switch(host_names(4))), folder, "Four hosts"))


@pytest.mark.parametrize(
    ("hosts", "simulator", "settings"),
    [(8, "verilator", "each=10"), (4, "icarus", "each=2"), (2, "verilator", "each=60 grim.window=3 stop_percent=40")],
)
def test_every_message_arrives_once_and_in_order(hosts: int, simulator: str, settings: str, tmp_path: Path) -> None:
    cluster = {2: "two_hosts", 4: four_hosts(tmp_path / "four"), 8: "eight_hosts"}[hosts]
    done = must("all_to_all", simulator, tmp_path, f"{settings} {SMALL_QUEUES}", cluster=cluster)
    counted, each = done.metrics, int(settings.split(maxsplit=1)[0].removeprefix("each="))
    assert counted["handled"] == each * hosts * (hosts - 1)
    assert counted["nacks_sent"] > 0, "a full host queue refuses messages"
    assert counted["rolled_back"] > 0, "and what was sent after them is taken back"
    assert counted["bad_crc"] == counted["strange"] == counted["overlong"] == 0
