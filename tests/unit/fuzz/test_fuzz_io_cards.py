"""Reference model of a disk in the fuzz test of I/O cards, without a simulator.

Strategy: requests with chosen times go to one block. The model must accept each content that some order of reads and
writes gives, and reject every other one. Over many programs each act must be drawn often.
"""

from __future__ import annotations

from collections import Counter

import pytest

from firmware.grim.formats.iocard import DiskOp, Status
from tb.fuzz import trial
from tb.studies.grim.fuzz.mail import FOREVER
from tb.studies.io_cards.fuzz import DISK_ACTS, HARMLESS, POWER
from tb.studies.io_cards.fuzz.requests import Disk, Times

OLD, NEW = b"aaaa", b"bb"
AFTER = NEW + OLD[len(NEW) :]
SEEDS, LEAST = 200, 10


def disk_with_write(status: Status | None) -> Disk:
    """Return a disk of one block with a write from 10 to 20, which was answered so, or not at all."""
    disk = Disk([OLD])
    write = disk.begin(10, 0, DiskOp.WRITE, 0, len(NEW), NEW)
    if status is not None:
        disk.answer(20, 0, write.tag, status, len(NEW) if status == Status.DONE else 0)
    return disk


@pytest.mark.parametrize(
    ("status", "begun", "ended", "may"),
    [
        (Status.DONE, 20, 30, {AFTER}),
        (Status.DONE, 0, 9, {OLD}),
        (Status.DONE, 15, 30, {OLD, AFTER}),
        (Status.DONE, 5, 12, {OLD, AFTER}),
        (None, 30, 40, {OLD, AFTER}),
    ],
    ids=["behind it", "before it", "begun within it", "ended within it", "behind one without an answer"],
)
def test_read_sees_a_state_between_the_last_write_before_it_and_the_last_one_begun(
    status: Status | None, begun: int, ended: int, may: set[bytes]
) -> None:
    for data in (OLD, AFTER, b"bbbb"):
        disk = disk_with_write(status)
        read = disk.begin(begun, 1, DiskOp.READ, 0, len(OLD))
        disk.answer(ended, 1, read.tag, Status.DONE, len(OLD))
        read.data = data
        wrong = [line for line in disk.errors([AFTER]) if "brought bytes" in line]
        assert (not wrong) is (data in may), data


def test_aborted_write_changes_nothing_and_needs_a_reset() -> None:
    for resets, wrong in (([Times(15, 16)], 0), ([Times(0, 9)], 1), ([], 1)):
        disk = Disk([OLD], resets=resets)
        write = disk.begin(10, 0, DiskOp.WRITE, 0, len(NEW), NEW)
        disk.answer(20, 0, write.tag, Status.ABORTED, 0)
        assert len(list(disk.errors([OLD]))) == wrong
        assert len(list(disk.errors([AFTER]))) == wrong + 1


def test_request_without_an_answer_is_missing_unless_the_card_lost_its_power() -> None:
    disk = disk_with_write(None)
    assert len(list(disk.missing())) == 1
    disk.outages.append(Times(100, 200))
    assert not list(disk.missing())
    disk.begin(200, 0, DiskOp.READ, 0, 1)
    assert len(list(disk.missing())) == 1, "begun after the new start"
    assert not list(disk.errors([OLD])) and not list(disk.errors([AFTER]))


def test_wrong_answers_are_named() -> None:
    disk = disk_with_write(Status.DONE)
    assert disk.answer(30, 1, 0, Status.DONE, 2) is None, "of another node"
    disk.answer(30, 0, 0, Status.DONE, 2)
    disk.answer(30, 0, 7, Status.DONE, 2)
    read = disk.begin(30, 1, DiskOp.READ, 0, 4)
    disk.answer(40, 1, read.tag, Status.LENGTH, 4)
    told = ["unknown request 0", "answered twice", "unknown request 7", "answered by LENGTH", "answered by 4 bytes"]
    assert len(disk.wrong) == len(told)
    assert all(text in line for text, line in zip(told, disk.wrong, strict=True))
    assert read.ended < FOREVER


def test_every_disk_action_is_drawn_often() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        seen.update(act.name for act in trial.drawn("io_cards", seed)[0].acts)
    assert {name for name in (*DISK_ACTS, *HARMLESS, *POWER) if seen[name] < LEAST} == set()
    assert seen["send"] > 0
