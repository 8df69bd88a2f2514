"""Suite of micro-benchmarks: costs of single components (paper 001, chapter 4).

Strategy: the whole suite runs once, with few rounds, and every part is compared with the necessary effect of its
component on a message: higher cost, higher bandwidth, or none. A second implementation runs the parts in which it must
differ.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firmware.via.shown import CONNECTION
from tb.studies.via._vibe_cases import PARTS, rows
from tests.system.lives import kinds, whole_lives
from tests.system.runs import Run, must


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run all parts on FirmVIA, on a LANai 9."""
    folder = tmp_path_factory.mktemp("suite")
    return must("vibe", "verilator", folder, "rounds=2 messages=6 largest=4096", profile="lanai9")


@pytest.fixture(scope="module")
def found(suite: Run) -> dict[str, float]:
    """Return the metrics of the suite."""
    return suite.metrics


def test_every_condition_of_every_part_is_measured(suite: Run, found: dict[str, float]) -> None:
    for part in PARTS:
        for row in rows(part, 4096):
            assert {f"{letter}_{row.name}" for letter in row.quantities} <= found.keys(), row.name
    table = (suite.folder / "vibe.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| mts \d+ 8192B \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$", table, re.MULTILINE)) == 4


def test_every_message_of_the_suite_has_stages_and_every_acknowledgement_a_name(suite: Run) -> None:
    assert {"RDMA write, with immediate data", CONNECTION, ""} <= set(kinds(whole_lives(suite)))


def test_pieces_of_a_message_overlap_on_their_way(found: dict[str, float]) -> None:
    times = [found[f"L_mts_{most}_8192B"] for most in (1024, 2048, 4096, 8192)]
    assert max(times) < 1.2 * min(times), "eight pieces take hardly longer than one"
    assert min(times) > 1.5 * found["L_base_poll_4096B"], "twice as much takes nearly twice as long"


def test_each_gathered_segment_adds_cost(found: dict[str, float]) -> None:
    times = [found[f"L_segments_{count}_64B"] for count in (1, 2, 4, 8)]
    rates = [found[f"B_segments_{count}_64B"] for count in (1, 2, 4, 8)]
    assert times == sorted(times) and rates == sorted(rates, reverse=True)
    assert times[-1] > 1.5 * times[0]


def test_two_outstanding_sends_give_more_bandwidth_than_one_and_sixteen_no_less(found: dict[str, float]) -> None:
    rates = {window: found[f"B_pipeline_{window}_16B"] for window in (1, 2, 4, 8, 16)}
    assert rates[2] > 1.1 * rates[1]
    assert min(rates[window] for window in (4, 8, 16)) > 0.97 * rates[2]


def test_sleeping_and_handlers_cost_an_interrupt_and_free_the_cpu(found: dict[str, float]) -> None:
    polled, slept, called = (found[f"L_{name}_16B"] for name in ("base_poll", "base_block", "notify"))
    assert polled + 5 < slept < called, "an interrupt takes 10 us and more (readings A3), a handler a thread"
    assert found["U_base_poll_16B"] == pytest.approx(100)
    assert max(found["U_base_block_16B"], found["U_notify_16B"], found["U_notify_signal_16B"]) < 50
    assert found["L_notify_signal_16B"] > polled + 5, "a signal comes by an interrupt too"
    assert found["L_cq_block_16B"] > found["L_cq_poll_16B"] + 5


def test_acknowledgements_cost_a_stream_and_not_a_round_trip(found: dict[str, float]) -> None:
    unreliable, delivery, reception = (found[f"B_{level}_16B"] for level in ("unreliable", "delivery", "reception"))
    assert unreliable > max(delivery, reception)
    assert delivery > 0.97 * reception, "who confirms what the application has confirms no earlier"
    times = [found[f"L_{level}_16B"] for level in ("unreliable", "delivery", "reception")]
    assert max(times) < 1.1 * min(times), "the answer comes behind the message"


def test_rdma_writes_through_a_kernel_buffer_cost_more_than_sends(found: dict[str, float]) -> None:
    for size in (16, 4096):
        assert found[f"L_rdma_{size}B"] > 1.2 * found[f"L_base_poll_{size}B"]
        assert found[f"B_rdma_{size}B"] < found[f"B_base_poll_{size}B"]


def test_rdma_reads_cost_a_message_each_way_and_no_remote_cpu(found: dict[str, float]) -> None:
    for size in (16, 4096):
        assert found[f"L_rdma_read_{size}B"] > found[f"L_base_poll_{size}B"], "a request goes before the data"
    assert found["L_rdma_read_16B"] < 2 * found["L_base_poll_16B"], "and no process answers it"
    assert 0.5 * found["B_base_poll_4096B"] < found["B_rdma_read_4096B"] < 1.3 * found["B_base_poll_4096B"]


def test_idle_vis_and_new_buffers_add_no_cost_in_firmvia(found: dict[str, float]) -> None:
    for name in ("vis_16_16B", "reuse_0_16B"):
        assert found[f"L_{name}"] == pytest.approx(found["L_base_poll_16B"], rel=0.05), name


def test_servers_answer_more_concurrent_clients_at_a_higher_rate(found: dict[str, float]) -> None:
    for model in ("slaves", "pool"):
        rates = [found[f"transactions_per_s_{model}_{clients}_clients"] for clients in (1, 2, 4)]
        assert rates == sorted(rates) and rates[-1] > 1.5 * rates[0], model
    replies = [found[f"transactions_per_s_{size}B"] for size in (16, 256, 4096)]
    assert replies == sorted(replies, reverse=True)


def test_registration_grows_with_pages_where_the_nic_has_the_table(found: dict[str, float], tmp_path: Path) -> None:
    settings = "part=costs rounds=1 via.preset=hwvia via.vis=8"
    table = must("vibe", "verilator", tmp_path, settings, profile="lanai9").metrics
    for pages in (1, 256):
        assert found[f"register_us_{pages}_pages"] < table[f"register_us_{pages}_pages"]
    grown = {name: one["register_us_256_pages"] - one["register_us_1_pages"] for name, one in
             (("firmvia", found), ("hwvia", table))}  # fmt: skip
    assert grown["hwvia"] > 1.5 * grown["firmvia"], "a word by PIO for each page"
