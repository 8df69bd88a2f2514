"""Names of the manual that are arguments."""

from __future__ import annotations

from enum import IntEnum


class Rmw(IntEnum):
    """What `Rmw` does with a word."""

    FETCH_AND_ADD = 0
    FETCH_AND_OR = 1
    SWAP = 2
    COMPARE_AND_SWAP = 3


class Query(IntEnum):
    """What `Qenv` tells; from ERROR_CHK on `Senv` sets it."""

    TASK_ID = 0
    NUM_TASKS = 1
    MAX_UHDR_SZ = 2
    MAX_DATA_SZ = 3
    ERROR_CHK = 4
    """1: what a call is given is checked first."""
    TIMEOUT = 5
    """After so many us without a sign of a task it is asked what it has."""
    INTERRUPT_SET = 6
    """1: packets interrupt, so that this task's part is done while it computes."""
    ACK_PACKETS = 7
    """One acknowledgement is sent for so many packets."""
