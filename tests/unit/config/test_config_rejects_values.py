"""Error texts for mistakes in the resources and the values of a configuration.

Strategy: a valid cluster of two hosts is changed in one place for each mistake, and the whole message is compared:
file, line, subject, cause and remedy. The table below lists the mistakes; a new check needs a row. Values just outside
of their range are tried.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.config import tables
from tests.unit.config.configfiles import (
    AS_PRINTED,
    COMPUTED,
    CONFIG,
    NO_ROUTES,
    RESOURCE,
    error_text,
    many,
    swapped,
)

MISTAKES: dict[str, tuple[dict[str, str], str]] = {
    # Resources
    "unknown card": (
        swapped(CONFIG, "USE CELOXICA", "USE CELOXIKA"),
        "grim_config:8: unknown resource: 'CELOXIKA'; did you mean 'CELOXICA'?",
    ),
    "circuits without a card": (
        swapped(CONFIG, "    USE CELOXICA\n", ""),
        "French_cluster_config.txt:2: resource not in use: no host of the cluster uses CELOXICA; "
        "add USE CELOXICA to a host or remove the line",
    ),
    "queue of an absent card": (
        swapped(CONFIG, "HOST metz", "HOST metz\nQUEUE_SIZE CELOXICA 4096"),
        "grim_config:11: resource not in use: host 'metz' does not use CELOXICA; add USE CELOXICA or remove the line",
    ),
    "queue of a card that no host has": (
        {
            CONFIG: COMPUTED.replace("HOST paris", "QUEUE_SIZE CELOXICA 4096\nHOST paris"),
            RESOURCE: "HOST_MAP_MYRI hosts\n",
        },
        "grim_config:6: resource not in use: no host of cluster 'French_cluster' uses CELOXICA; "
        "add USE CELOXICA or remove the line",
    ),
    "queue of what is no resource": (
        swapped(CONFIG, "HOST metz", "HOST metz\nQUEUE_SIZE MYRA 4096"),
        "grim_config:11: unknown resource: 'MYRA'; did you mean 'MYRI'?",
    ),
    "queue requested twice": (
        swapped(CONFIG, "HOST metz", "HOST metz\nQUEUE_SIZE HOST 4096\nQUEUE_SIZE HOST 4096"),
        "grim_config:12: QUEUE_SIZE HOST given twice: first at grim_config:11; remove one",
    ),
    "channel of an absent card": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 CELOXICA"),
        "grim_config:11: resource not in use: host 'metz' does not use CELOXICA; add USE CELOXICA or remove the line",
    ),
    "channel of a card that no host has": (
        {
            CONFIG: COMPUTED,
            RESOURCE: "HOST_MAP_MYRI hosts\nCHANNEL 1 CELOXICA\n",
        },
        "French_cluster_config.txt:2: resource not in use: no host of cluster 'French_cluster' uses CELOXICA; "
        "add USE CELOXICA or remove the line",
    ),
    "channel of no endpoint": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 PROCES viewer"),
        "grim_config:11: unknown endpoint: 'PROCES'; did you mean 'PROCESS'?",
    ),
    "channel of a display": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 FRAME_BUFFER"),
        "grim_config:11: wrong endpoint: FRAME_BUFFER takes no messages; connect HOST, CELOXICA or PROCESS",
    ),
    "process without a name": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 PROCESS"),
        "grim_config:11: wrong endpoint: PROCESS without a name; write CHANNEL 1 PROCESS <name>",
    ),
    "host with a name": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 HOST viewer"),
        "grim_config:11: wrong endpoint: 'viewer' behind HOST; write CHANNEL 1 HOST",
    ),
    "process with an invalid name": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 PROCESS 7up"),
        "grim_config:11: bad process name: '7up'; a letter, then letters, digits, '_', '.' or '-'",
    ),
    "channel 0 of a process": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 0 PROCESS viewer"),
        "grim_config:11: value out of range: channel 0 carries the messages between the hosts' libraries, so it is "
        "HOST's; connect PROCESS to 1 to 31",
    ),
    "channel above the format": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 32 HOST"),
        "grim_config:11: value out of range: the channel is 32; it must be 0 to 31",
    ),
    "channel that is no number": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL one HOST"),
        "grim_config:11: wrong type: the channel is 'one'; write a whole number",
    ),
    "channel connected twice": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 HOST\nCHANNEL 1 PROCESS viewer"),
        "grim_config:12: channel 1 connected twice: CHANNEL 1 HOST at grim_config:11; remove one line",
    ),
    "process connected twice": (
        swapped(CONFIG, "HOST metz", "HOST metz\nCHANNEL 1 PROCESS viewer\nCHANNEL 2 PROCESS viewer"),
        "grim_config:12: PROCESS viewer connected twice: CHANNEL 1 PROCESS viewer at grim_config:11; remove one line",
    ),
    "card connected twice": (
        swapped(CONFIG, "USE CELOXICA", "USE CELOXICA\nCHANNEL 1 CELOXICA\nCHANNEL 2 CELOXICA"),
        "grim_config:10: CELOXICA connected twice: CHANNEL 1 CELOXICA at grim_config:9; remove one line",
    ),
    "slot used twice": (
        {"circuits": "video.bit 0 fir16\nvideo.bit 0 histogram\n"},
        "circuits:2: slot used twice: slot 0 of 'video.bit' holds 'fir16' (circuits:1); use a free slot",
    ),
    # Values
    "nodes no number": (
        {CONFIG: "NUM_NODES two\n" + AS_PRINTED},
        "grim_config:1: wrong type: NUM_NODES is 'two'; write a whole number",
    ),
    "no nodes": (
        {CONFIG: "NUM_NODES 0\n" + AS_PRINTED},
        "grim_config:1: value out of range: NUM_NODES is 0; it must be 1 to 1024",
    ),
    "more nodes than hosts": (
        {CONFIG: "NUM_NODES 3\n" + AS_PRINTED},
        "grim_config:1: value out of range: NUM_NODES is 3, but cluster 'French_cluster' lists 2 hosts; "
        "add HOST lines or lower NUM_NODES",
    ),
    "VNN above 1023": (
        {CONFIG: many(1025)},
        "grim_config:2050: value out of range: host 'h1024' would have VNN 1024; a VNN is at most 1023; "
        "use fewer hosts",
    ),
    "ports no number": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 eight\n"},
        "French_cluster_config.txt:1: wrong type: the ports of switch 's0' is 'eight'; write a whole number",
    ),
    "odd number of ports": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 6\n"},
        "French_cluster_config.txt:1: value out of range: switch 's0' has 6 ports; switches have 4, 8 or 16 ports",
    ),
    "metres no number": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 0 long\n"},
        "French_cluster_config.txt:2: wrong type: the length of the cable is 'long'; write a number of metres",
    ),
    "metres not finite": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 0 nan\n"},
        "French_cluster_config.txt:2: wrong type: the length of the cable is 'nan'; write a number of metres",
    ),
    "cable too long": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 0 1000\n"},
        "French_cluster_config.txt:2: value out of range: a cable of 1000 metres; cables have 0 to 200 metres",
    ),
    "negative cable": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 0 -1\n"},
        "French_cluster_config.txt:2: value out of range: a cable of -1 metres; cables have 0 to 200 metres",
    ),
    "physical ID no number": (
        {"hosts": "paris zero\n"},
        "hosts:1: wrong type: the physical ID of 'paris' is 'zero'; write a whole number",
    ),
    "physical ID beyond the switch": (
        NO_ROUTES | {RESOURCE: "HOST_MAP_MYRI hosts\nSWITCH s0 4\n", "hosts": "paris 0\nmetz 4\n"},
        "hosts:2: value out of range: the physical ID of 'metz' is 4; the switches have ports 0 to 3; add a SWITCH",
    ),
    "slot no number": (
        {"circuits": "video.bit first fir16\n"},
        "circuits:1: wrong type: the slot of 'fir16' is 'first'; write a whole number",
    ),
    "slot that no card has": (
        {"circuits": "video.bit 4 fir16\n"},
        "circuits:1: value out of range: the slot of 'fir16' is 4; it must be 0 to 3",
    ),
    "circuit that is not built": (
        {"circuits": "video.bit 0 fir17\n"},
        "circuits:1: unknown circuit: hdl/card/myri_circuit_fir17.sv does not exist; did you mean 'fir16'?",
    ),
    "tiny queue": (
        swapped(CONFIG, "HOST metz", "HOST metz\nQUEUE_SIZE HOST 8"),
        "grim_config:11: value out of range: the queue size of HOST is 8; it must be 64 to 1073741824",
    ),
    "unknown profile": (
        {RESOURCE: "HOST_MAP_MYRI hosts\nPROFILE lanai8\n"} | swapped(CONFIG, "USE CELOXICA", ""),
        "French_cluster_config.txt:2: unknown profile: 'lanai8'; did you mean 'lanai9'?",
    ),
    "unknown host profile": (
        {RESOURCE: "HOST_MAP_MYRI hosts\nPROFILE lanai9+p3\n"},
        "French_cluster_config.txt:2: unknown host profile: 'p3'; did you mean 'p3-450'?",
    ),
}


@pytest.mark.parametrize(("changed", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistake_is_named(tmp_path: Path, changed: dict[str, str], text: str) -> None:
    assert error_text(tmp_path, changed) == text


def test_the_highest_vnn_is_valid(tmp_path: Path) -> None:
    assert "VNN" not in error_text(tmp_path, {CONFIG: many(1024)})


def test_more_circuits_than_the_cards_tables_hold_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "CIRCUITS", 1)
    error = error_text(tmp_path, {"circuits": "video.bit 0 fir16\nvideo.bit 1 fir16\nvideo.bit 2 histogram\n"})
    assert error == "circuits:3: too many circuits: the card's tables hold 1; leave some out"
