"""Enumerations of the manual used as arguments."""

from __future__ import annotations

from enum import IntEnum


class Rmw(IntEnum):
    """Operations of `Rmw`."""

    FETCH_AND_ADD = 0
    FETCH_AND_OR = 1
    SWAP = 2
    COMPARE_AND_SWAP = 3


class Query(IntEnum):
    """Properties read by `Qenv`; those from ERROR_CHK on can be set by `Senv`."""

    TASK_ID = 0
    NUM_TASKS = 1
    MAX_UHDR_SZ = 2
    MAX_DATA_SZ = 3
    ERROR_CHK = 4
    """1: argument checks of calls are charged."""
    TIMEOUT = 5
    """Time-out in us of a silent task."""
    INTERRUPT_SET = 6
    """1: packets interrupt, so that the task serves others while it computes."""
    ACK_PACKETS = 7
    """Number of packets acknowledged at a time."""
