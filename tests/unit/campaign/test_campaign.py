"""Faults as texts, their drawing, and the verdict on what they have done.

Strategy: every kind of fault is written, read back and compared; each wrong text has its error. Faults drawn from a
made-up life must be such texts, strike what lives, and be the same for one seed. The judge gets reports that are each
changed in one place, and each must have another outcome. Variables are found in objects made here, and flipped.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pymodels.config import Cluster, find_config, load_cluster
from pymodels.errors import ConfigError, SanlabError
from pymodels.topology import End
from tb.campaign.batch import Batch, Ended, batches, ended
from tb.campaign.draw import drawn
from tb.campaign.judge import LET_THROUGH, OUTCOMES, judge
from tb.campaign.life import Life
from tb.campaign.passed import let_through, meanwhile
from tb.campaign.run import Campaign, chosen, seeds, table
from tb.campaign.work import LONGEST, Report, expected
from tb.lab import variables as looked
from tb.lab.cluster import RunningCluster
from tb.lab.faults import Injector
from tb.lab.variables import variables
from tb.plan.faults import IN_C, IN_PYTHON, KINDS, OF_CARDS, Fault, faults
from tb.report.packets import Captured
from tb.sweep.work import Done

US = 1_000_000
CLUSTER: Cluster = load_cluster(Path(find_config("four_hosts", {})))
NAMES = CLUSTER.names
LIFE = Life(
    100 * US,
    300 * US,
    [[(0xA000 + 64 * node, 200 * US)] for node in range(4)],
    [[(0x100000 + 64 * node, 200 * US)] for node in range(4)],
    {"metz.0": [(150 * US, 151 * US)], "s0.2": [(160 * US, 162 * US)]},
)
TEXTS = [
    "flip:metz.0:0x104@41.5",
    "flip:s0.3:0x1@41.500001+2",
    "drop:metz.0@41.5+0.05",
    "stick:metz.0:0x10f@41.5+20",
    "late:s0.1:9@41.5",
    "dma_read:metz:17@41.5",
    "dma_write:metz:0@41.5",
    "store:metz:63@41.5",
    "lost_store:metz@41.5",
    "lost_interrupt:metz@41.5",
    "sram:metz:0xa010.5@41.5",
    "register_write:metz:31@41.5",
    "register_read:metz:9@41.5",
    "reset:metz@41.5",
    "memory:metz:0x101000.7@41.5",
    "stop:metz@41.5",
    "variable:metz:0x11.31@41.5",
    "instruction:metz:0x11.31@41.5",
]


def test_each_kind_of_fault_survives_a_round_trip_through_its_text() -> None:
    read = faults(",".join(TEXTS), CLUSTER)
    assert [str(one) for one in read] == TEXTS
    assert {one.kind for one in read} | OF_CARDS == KINDS.keys()
    assert read[1] == Fault("flip", "s0.3", 41_500_001, 1, 0, 2 * US)
    assert faults("", CLUSTER) == []


def test_loss_of_power_names_a_slot_with_a_card() -> None:
    cards = load_cluster(Path(find_config("two_cards", {})))
    text = f"power:{cards.names[1]}:1@41.5+200"
    (fault,) = faults(text, cards)
    assert str(fault) == text and (fault.number, fault.for_ps) == (1, 200 * US)
    for wrong, cause in ((3, "slot 3"), (2, "slots with cards: 1 (CELOXICA)")):
        with pytest.raises(ConfigError, match=re.escape(cause)):
            faults(f"power:{cards.names[0]}:{wrong}@1", cards)


WRONG = {
    "sram": "fault.inject: invalid fault 'sram': it does not have the form of a fault",
    "melt:metz@1": "fault.inject: unknown kind 'melt': in 'melt:metz@1'",
    "sram:mets:0xa010.5@1": "unknown host 'mets': the place of this fault is a host; did you mean 'metz'?",
    "flip:metz.3:1@1": "fault.inject: unknown port: no cable ends at 'metz.3'",
    "sram:metz:0xa010@1": "sram takes a bit below 8",
    "sram:metz:0xa010.8@1": "sram has bits 0 to 7",
    "reset:metz:3@1": "reset takes no number",
    "dma_read:metz:3.1@1": "dma_read takes no bit",
    "dma_read:metz@1": "dma_read takes a number",
    "dma_read:metz:64@1": "dma_read takes 0 to 63",
    "late:metz.0:0@1": "late takes 1 to 50",
    "reset:metz@1+2": "reset has no duration",
}


@pytest.mark.parametrize("text", WRONG)
def test_an_invalid_fault_is_rejected(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        faults(text, CLUSTER)
    assert WRONG[text] in str(refused.value)
    assert refused.value.exit_code == 2


def test_drawn_faults_have_texts_and_hit_active_places() -> None:
    for seed in range(600):
        fault = drawn(seed, LIFE, NAMES)
        assert faults(str(fault), CLUSTER) == [fault], "the text that is printed is the fault that acted"
        assert fault == drawn(seed, LIFE, NAMES)
        assert 100 * US - 200_000 <= fault.at_ps <= 300 * US
        if fault.kind in ("sram", "memory"):
            begin = (LIFE.sram if fault.kind == "sram" else LIFE.memory)[NAMES.index(fault.place)][0][0]
            assert begin <= fault.number < begin + 8
    drawn_kinds = [name for name in KINDS if name not in OF_CARDS]
    of_python, of_c = ([name for name in drawn_kinds if name not in other] for other in (IN_C, IN_PYTHON))
    assert [drawn(seed, LIFE, NAMES).kind for seed in range(len(of_python))] == of_python
    assert [drawn(seed, LIFE, NAMES, in_c=True).kind for seed in range(len(of_c))] == of_c
    assert {drawn(seed, LIFE, NAMES, ["drop"]).kind for seed in range(9)} == {"drop"}


DUE = expected(1, 4)
CLEAN = Report(arrived=DUE, ended_ps=300 * US, seen={"NIC_DROPPED": 1, "RESEND": 0})
FAULT = Fault("sram", "metz", 200 * US, 0xA000, 3)


def arrived(change: Callable[[list[list[list[str]]]], object]) -> Report:
    """Make a run whose messages arrived in another way."""
    copy = json.loads(json.dumps(DUE))
    change(copy)
    return replace(CLEAN, arrived=copy)


HUNG = replace(CLEAN, ended_ps=0)
VERDICTS: list[tuple[Report, str]] = [
    (CLEAN, "no effect"),
    (replace(CLEAN, seen={"NIC_DROPPED": 2}), "harmless"),
    (replace(CLEAN, seen={"crc_bad": 1}), "harmless"),
    (replace(CLEAN, invariants=["node 1 host DMA: ended"]), "harmless"),
    (replace(CLEAN, seen={"NIC_DROPPED": 2, "RESEND": 1}), "resent"),
    (replace(CLEAN, seen={"TIMEOUT": 1, "RESEND": 1}), "timed out"),
    (replace(HUNG, errors=["host 2: GrimError"]), "refused"),
    (replace(HUNG, waiting=["host paris: messages waits for messages of metz, held by host metz"]), "hang named"),
    (replace(HUNG, waiting=["NIC 1 waits for room"]), "hang named"),
    (replace(HUNG, seen={"link_down": 1}), "hang named"),
    (replace(HUNG, waiting=["NIC 3 waits for room"]), "hang"),
    (HUNG, "hang"),
    (replace(HUNG, died="IndexError"), "dies"),
    (replace(CLEAN, guards=["lyon"]), "silent neighbour"),
    (arrived(lambda came: came[2][1].__setitem__(0, "00")), "silent"),
    (arrived(lambda came: came[1][0].reverse()), "silent"),
    (arrived(lambda came: came[1][0].append(came[1][0][0])), "silent"),
    (arrived(lambda came: came[1][0].pop(0)), "silent"),
    (arrived(lambda came: came[3][2].__setitem__(0, "00")), "silent neighbour"),
]


@pytest.mark.parametrize(("report", "outcome"), VERDICTS, ids=[f"{i}-{name}" for i, (_, name) in enumerate(VERDICTS)])
def test_each_end_of_a_run_has_its_outcome(report: Report, outcome: str) -> None:
    assert judge(FAULT, CLEAN, report, DUE, CLUSTER)[0] == outcome


def test_the_cases_cover_every_outcome() -> None:
    assert {outcome for _, outcome in VERDICTS} == OUTCOMES.keys()


def test_a_wait_at_the_far_end_of_the_cable_names_a_link_fault() -> None:
    fault = Fault("drop", "s0.1", 200 * US)
    hung = replace(HUNG, waiting=["host paris: messages waits for messages of metz, held by host metz"])
    assert judge(fault, CLEAN, hung, DUE, CLUSTER)[0] == "hang named"


def test_each_host_sends_different_messages_to_two_others() -> None:
    sent = [one for to in DUE for of in to for one in of]
    assert len(sent) == len(set(sent)) == 4 * 2 * 4
    assert expected(2, 4) != DUE


def test_a_table_counts_by_kind_and_the_sums_agree() -> None:
    found = [Ended("grim", "lanai9", n, TEXTS[n % 3], ("no effect", "silent")[n % 2], "") for n in range(6)]
    shown = table("grim on lanai9", found)
    assert shown.headings == ("grim on lanai9", "fault", "no effect", "silent", "all")
    assert shown.rows == (
        ("link", "flip", "2", "2", "4"),
        ("link", "drop", "1", "1", "2"),
        ("all", "", "3", "3", "6"),
    )


def test_a_silent_fault_is_listed_with_detectors_and_its_command() -> None:
    changed = Ended(
        "via", "lanai4", 7, TEXTS[10], "silent", "metz has a message of paris that was not sent in this form"
    )
    assert changed.seen_by == "a CRC-32 end to end; parity of the NIC's memory"
    assert changed.again == "make campaign LAYER=via PROFILE=lanai4 SEEDS=7..7"
    twice = replace(changed, fault=TEXTS[5], why="metz has a message of paris twice")
    assert twice.seen_by == "a number end to end; PAR and PERR# of the PCI bus"


def test_the_command_that_repeats_a_fault_has_settings_and_simulator_of_the_campaign() -> None:
    batch = Batch("via", "lanai9", 7, 1, "icarus", "kinds=flip,drop nic.firmware=c")
    told = {"seed": 7, "fault": TEXTS[0], "outcome": "silent", "why": "twice", "told": []}
    (one,) = ended(batch, Done(json.dumps([told])))
    assert one.again == (
        "make campaign LAYER=via PROFILE=lanai9 SEEDS=7..7 SET='kinds=flip,drop nic.firmware=c' SIM=icarus"
    )


def test_only_a_packet_with_the_change_and_a_correct_crc8_counts_as_missed_by_crc8() -> None:
    sent = [bytes(range(64)), bytes(range(100, 164)), bytes(20)]
    got = bytearray(sent[1])
    got[30:33] = b"abc"
    message, texts = got.hex(), [one.hex() for one in sent]
    packet = (b"head" + got[10:50] + b"x").hex()
    assert let_through(message, texts, [packet])
    assert not let_through(message, texts, [])
    assert not let_through(message, texts, [(b"head" + got[10:36]).hex()]), "what stands behind it is not there"
    assert not let_through(message, texts, [(b"head" + sent[1]).hex()])
    assert not let_through(got[:40].hex(), texts, [packet]), "no message of that length was sent"


def test_only_packets_during_the_fault_are_considered() -> None:
    came = [
        Captured(first, last, cable, 1, b"") for first, last, cable in ((0, 9, 7), (5, 20, 7), (30, 40, 7), (15, 16, 6))
    ]
    assert meanwhile(came, 7, 10, 29) == [came[1]]
    assert meanwhile(came, 7, 9, 30) == came[:3]


BROKEN = [
    ("grim", 0, "silent", "paris has a message of metz that was not sent in this form", True),
    ("via", 0, "silent neighbour", "guards of lyon have changed", True),
    ("grim", 2, "silent", "paris has a message of metz twice", True),
    ("udp", 2, "silent", "paris has a message of metz out of order, or lost", False),
    ("udp", 2, "silent", "paris has a message of metz that was not sent in this form", True),
    ("via", 9, "silent", "paris has a message of metz twice", True),
    ("grim", 10, "silent", "paris has a message of metz that was not sent in this form", False),
    ("grim", 6, "silent", "paris has a message of metz that was not sent in this form", False),
    ("grim", 0, "silent", f"paris has a message of metz that was not sent so, {LET_THROUGH}", False),
    ("grim", 0, "resent", "nic_dropped 2", False),
    ("grim", 10, "hang", "no known owner of the resources that hosts wait for", True),
]


@pytest.mark.parametrize(("layer", "text", "outcome", "why", "bad"), BROKEN)
def test_a_campaign_fails_after_a_broken_promise_or_an_unexplained_hang(
    layer: str, text: int, outcome: str, why: str, bad: bool
) -> None:
    clean = Ended(layer, "lanai9", 0, TEXTS[0], "no effect", "")
    assert Campaign([clean, Ended(layer, "lanai9", 1, TEXTS[text], outcome, why)]).bad == bad
    assert not Campaign([clean]).bad and Campaign([clean], ["disk full"]).bad


def test_batches_contain_each_seed_once() -> None:
    made = batches("grim", "lanai9", 30, 120, "verilator", "")
    assert [seed for one in made for seed in range(one.first, one.first + one.count)] == list(range(30, 150))


def test_a_batch_is_reported_only_if_it_fails_twice() -> None:
    campaign, batch = Campaign(), Batch("grim", "lanai9", 0, 1)
    campaign.add(batch, Done(failures=("disk full",)), again=True)
    row = {"seed": 0, "fault": TEXTS[0], "outcome": "no effect", "why": "", "told": []}
    campaign.add(batch, Done(json.dumps([row])), again=False)
    assert (campaign.failures, len(campaign.faults_of("grim", "lanai9"))) == ([], 1)
    campaign.add(batch, Done(failures=("disk full",)), again=False)
    assert campaign.failures == ["campaign-grim-lanai9, seeds from 0: disk full"]


def test_seeds_and_layers_are_parsed_or_rejected() -> None:
    assert (seeds(""), seeds("7"), seeds("3..9")) == ((0, 500), (0, 7), (3, 7))
    assert chosen("", "", "verilator") == [(one, nic) for one in ("grim", "via") for nic in ("lanai9", "lanai4")]
    assert chosen("am", "lanai9", "icarus") == [("am", "lanai9")]
    for wrong in ("0", "9..3", "many"):
        with pytest.raises(ConfigError, match="SEEDS: invalid seeds"):
            seeds(wrong)
    with pytest.raises(ConfigError, match="LAYER: unknown layer 'gram'"):
        chosen("gram", "", "verilator")
    with pytest.raises(ConfigError, match="SIM: unknown simulator"):
        chosen("", "", "vhdl")


@dataclass(frozen=True)
class Fixed:
    """Memory that a program never changes."""

    size: int = 5


class Program:
    """Objects as firmware has them."""

    def __init__(self) -> None:
        self.front, self.back = 0, 7
        self.fixed, self.streams, self.known = Fixed(), [0, 3], {9: 4}
        self.itself = self

    async def run(self) -> None:
        """Wait for ever."""
        await asyncio.Future()


def at_time(now: int) -> tuple[Any, list[tuple[int, object]]]:
    """Return a stand-in of a running cluster at a time in ps, and what its kernel schedules."""
    scheduled = list[tuple[int, object]]()
    running: Any = SimpleNamespace(
        doorway=SimpleNamespace(now=lambda: now),
        invariants=SimpleNamespace(faults_expected=False),
        kernel=SimpleNamespace(at=lambda time, act: scheduled.append((time, act))),
    )
    running.check_future = partial(RunningCluster.check_future, running)
    return running, scheduled


def test_a_fault_in_the_past_is_an_error() -> None:
    running, scheduled = at_time(41_500_001)
    told = re.escape("fault sram at metz: 41.5 us is in the past: the simulation is at 41.5 us; give a later time")
    with pytest.raises(SanlabError, match=told):
        Injector(running).inject([Fault("sram", "metz", 41_500_000, 5, 3)])
    assert scheduled == []
    Injector(running).inject([Fault("sram", "metz", 41_500_001, 5, 3)])
    assert [time for time, _ in scheduled] == [41_500_001]


def test_a_fault_of_a_link_in_the_past_is_an_error() -> None:
    running, _ = at_time(8_000_000)
    told = re.escape("fault flip at metz.0: 3 us is in the past: the simulation is at 8 us; give a later time")
    with pytest.raises(SanlabError, match=told):
        RunningCluster.fault(running, End("metz", 0), "flip", 3, 4)


def test_an_instruction_fault_changes_an_executed_word_of_sram() -> None:
    sram, touched = bytearray(range(64)), list[int]()
    core = SimpleNamespace(counts=np.array([[0, 5], [3, 0], [0, 9], [1, 0]]), program=Image(16))
    nics = [SimpleNamespace(sram=memoryview(sram), unit=9)]
    doorway = SimpleNamespace(lib=SimpleNamespace(dw_touch=touched.append))
    cluster = SimpleNamespace(names=["metz"])
    running: Any = SimpleNamespace(plan=SimpleNamespace(cluster=cluster), nics=nics, doorway=doorway, cores={0: core})
    injector = Injector(running)
    injector._instruction(Fault("instruction", "metz", 0, 5, 30))
    assert sram[28:32] == bytes([28 ^ 0x40, 29, 30, 31]) and sum(sram) - sum(range(64)) == 0x40
    assert touched == [9] and injector.told == ["0x1c: 0x1c1d1e1f -> 0x5c1d1e1f"]
    running.cores.clear()
    injector._instruction(Fault("instruction", "metz", 0, 5, 30))
    assert touched == [9], "firmware in Python has no instructions"


@dataclass(frozen=True)
class Image:
    """Location of a program in memory."""

    base: int

    def symbol(self, address: int) -> str:
        """Return the address as text."""
        return hex(address)


def test_variables_of_firmware_are_found_and_flipped(monkeypatch: Any) -> None:
    monkeypatch.setattr(looked, "OWN", __name__)
    program = Program()
    task: Any = program.run()
    found = {one.name: one for one in variables([task])}
    assert list(found) == ["self.front", "self.back", "self.streams[1]", "self.known[9]"]
    for one in found.values():
        one.flip(4)
    assert (program.front, program.back, program.streams, program.known) == (16, 23, [0, 19], {9: 20})
    found["self.front"].flip(31)
    assert program.front == 1 << 31 | 16
    task.close()


@pytest.mark.parametrize("most", [16, 64, 4096])
def test_messages_do_not_exceed_the_limit_of_the_layer(most: int) -> None:
    sizes = {len(bytes.fromhex(one)) for seed in range(20) for one in expected(seed, 4, most)[2][0]}
    assert max(sizes) == min(most, LONGEST)
