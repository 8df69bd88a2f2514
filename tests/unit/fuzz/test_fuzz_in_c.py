"""Fuzz test of GRIM with NICs that execute the firmware in C.

Strategy: the state of such a NIC is read from its SRAM, while a message waits for a host that does not read, and
afterwards. The names of its variables are compared with those of the counters. Programs use only features of the
firmware in C, and a few run.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.boot import UNSUPPORTED, check
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.variables import offsets
from firmware.grim.options import Options
from firmware.options import OptionError
from pymodels.errors import ConfigError
from tb.fuzz import trial
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.rtl import cores
from tb.fuzz.run import chosen
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.studies.grim.fuzz.acts import KINDS, program_in_c
from tb.studies.grim.fuzz.in_c import NEEDS, ExecutingNi, needed
from tb.studies.grim.fuzz.in_c import check as check_program
from tb.tools.paths import SIMULATORS
from tests.unit.grim.test_grim_in_c import mixed

SLOW_US = 300


def drawn(seed: int) -> Program:
    """Return the program of a seed with NICs that execute firmware in C."""
    return program_in_c(Draw(f"grim {seed}"))


def valid(options: dict[str, int | str]) -> bool:
    """Return True if a NIC of either kind accepts the options."""
    try:
        Options.from_values(options)
    except OptionError:
        return False
    return True


def test_the_counters_are_the_first_variables() -> None:
    at = offsets()
    last = max(Counter)
    assert [offset for _, offset in zip(range(last + 1), at.values(), strict=False)] == [4 * one for one in Counter]
    assert at["sent"] == 4 * Counter.SENT and at["unsent"] == 4 * last


def test_program_with_c_uses_only_actions_of_the_firmware() -> None:
    for seed in range(200):
        one = drawn(seed)
        assert "c" in one.in_c and len(one.in_c) == one.nodes and not one.faults
        assert not {needed(act) for act in one.acts} & set(UNSUPPORTED)
        check_program(one)
        if valid(dict(one.options)):
            check(one.options)


def test_all_nics_any_and_few_execute() -> None:
    letters = [drawn(seed).in_c for seed in range(100)]
    assert any("p" not in one for one in letters), "all"
    assert any("p" in one for one in letters), "mixed with Python"


def test_requirements_of_an_action_use_the_names_of_missing_firmware_features() -> None:
    assert set(NEEDS) <= set(KINDS) | {"go down"}
    assert set(NEEDS.values()) <= set(UNSUPPORTED)


@pytest.mark.parametrize(
    ("options", "act", "need"),
    [
        ({}, Act(0, "broadcast", {"handler": "take", "bytes": 4}), "multicast"),
        ({}, Act(0, "send", {"handler": "write"}), "remote memory"),
        ({"sequencing": "per-ni"}, Act(0, "poll"), "sequencing=per-ni"),
    ],
)
def test_a_program_with_features_that_the_firmware_in_c_lacks_is_rejected(
    options: dict[str, int | str], act: Act, need: str
) -> None:
    given = Program(2, "lanai9", options, {}, (act,), in_c="cp")
    failures = trial.on_machine("grim", given).failures
    assert len(failures) == 1 and f"GRIM's firmware in C does not support {need}, and NICs cp execute it" in failures[0]
    check_program(replace(given, in_c=""))


def test_a_layer_without_programs_in_c_is_rejected_by_name() -> None:
    with pytest.raises(ConfigError, match="the fuzz of layer 'via' has no programs with firmware in C.*LAYER=grim"):
        chosen("via", "1", "machine", "verilator", "c")
    assert [one.layer for one in chosen("", "1", "rtl", "verilator", "c")] == ["grim"]


@pytest.mark.parametrize(("layer", "has"), [("grim", True), ("via", False)])
def test_the_cluster_of_the_fuzz_has_processors_where_programs_may_execute(layer: str, has: bool) -> None:
    info = studies.load("tb.fuzz.rtl")
    request = resolve("tb.fuzz.rtl", "verilator", "1", False, "", "", f"layer={layer}", SIMULATORS)
    understood = plan(request, info)
    assert (cores(understood), understood.cores, understood.in_c) == (has, has, frozenset())


def test_packets_held_by_a_nic_are_visible_until_the_host_has_room() -> None:
    bench = mixed("cp", host_queue_bytes=1024, segment_bytes=256, retry_delay_us=50)
    ni = ExecutingNi(bench.machine.nic(0), bench.views[0])
    got: list[int] = []
    seen: set[str] = set()

    async def application(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, take=lambda source, number, *rest: got.append(number)))["take"]
        if me == 0:
            for number in range(30):
                await library.send(library.get_dest_id(1), handler, number)
            await library.host.sleep(SLOW_US * 1_000_000 // 2, "the look")
            seen.update(what for what, count in ni.holds() if count)
        else:
            await library.host.sleep(SLOW_US * 1_000_000, "a host that does not read")
            await library.wait_for(lambda: len(got) == 30)

    bench.run(application)
    bench.settle(200)
    assert {"scoreboard entries of channel 0", "messages that wait", "a queue of channel 0 that is not empty"} <= seen
    assert [what for what, count in ni.holds() if count] == []


@pytest.mark.parametrize("seed", [2, 8])
def test_programs_with_c_match_their_reference(seed: int) -> None:
    one = drawn(seed)
    assert list(trial.on_machine("grim", one).failures) == [], str(one)
