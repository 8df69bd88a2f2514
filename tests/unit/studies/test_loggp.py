"""The method that finds LogGP's parameters, and the recurrence that predicts from them.

Strategy: the method runs on a network of made-up hosts that follow LogGP to the picosecond, with parameters of any
size; it must give them back. The recurrence is compared with schedules computed by hand, one for each rule of the
model, and with sums that hold for any parameters. The input of LogGOPSim is compared as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.mail import Mail
from pymodels.kernel import Kernel
from pymodels.loggp.goal import Calc, Recv, Send, Step, all_to_all, text
from pymodels.loggp.parameters import LogGP, Rounds, fitted, line
from pymodels.loggp.predict import LogGOPS, finish_times
from tb.studies.costs._loggp import COUNT, Pair, sizes_up_to
from tb.studies.kit.mail import End


@dataclass(frozen=True)
class Network:
    """LogGP parameters of a made-up network, in ps."""

    L: int
    o_s: int
    o_r: int
    g: int
    G: int
    O: int  # noqa: E741 - its name in the model


class MadeUpMail(Mail):
    """A host of such a network: its NIC takes one message after the other."""

    most = 1 << 16

    def __init__(self, kernel: Kernel, network: Network) -> None:
        self._kernel, self._network = kernel, network
        self.hosts: list[MadeUpMail] = []
        self._inbox: list[tuple[int, tuple[int, bytes]]] = []
        self._arrival = kernel.future()
        self._gone = 0

    async def start(self) -> None:
        """Do nothing: this mail needs no preparation."""

    async def _send(self, node: int, data: bytes) -> None:
        with_, kernel, beyond = self._network, self._kernel, len(data) - 1
        if self._gone > kernel.now:
            await kernel.sleep_until(self._gone)
        self._gone = kernel.now + with_.g + beyond * with_.G
        here = kernel.now + with_.o_s + with_.L + beyond * max(with_.G, with_.O)
        self.hosts[node].take(here, (self.hosts.index(self), data))
        await kernel.sleep(with_.o_s + beyond * with_.O)

    def take(self, when: int, message: tuple[int, bytes]) -> None:
        """Add a message to the inbox that can be received from the time `when` on."""
        self._inbox.append((when, message))
        arrival, self._arrival = self._arrival, self._kernel.future()
        arrival.set(None)

    async def receive(self) -> tuple[int, bytes]:
        while not self._inbox:
            await self._arrival
        when, message = self._inbox.pop(0)
        if when > self._kernel.now:
            await self._kernel.sleep_until(when)
        await self._kernel.sleep(self._network.o_r)
        return message

    async def until(self, condition: Callable[[], bool]) -> None:
        raise NotImplementedError


class MadeUpLab:
    """A kernel, and what did not hold."""

    def __init__(self) -> None:
        self.kernel = Kernel()
        self.failures: list[str] = []

    def check(self, name: str, holds: bool, failure: str) -> None:
        if not holds:
            self.failures.append(f"{name}: {failure}")


def measured(network: Network, sizes: list[int]) -> LogGP:
    """Return the parameters that the method finds for a network."""
    lab = MadeUpLab()
    mails = [MadeUpMail(lab.kernel, network) for _ in range(2)]
    for mail in mails:
        mail.hosts = mails
    pair = Pair(lab, End(0, mails[0]), End(1, mails[1]), 1, 1)
    rounds: list[Rounds] = []

    async def all_sizes() -> None:
        rounds.extend([await pair.measure(size) for size in sizes])

    task = lab.kernel.spawn(all_sizes(), "the study")
    lab.kernel.run()
    assert task.finished.done and not lab.failures
    assert all(one.count == COUNT for one in rounds)
    return fitted(rounds)


overheads = st.integers(1, 20_000_000)


@given(st.integers(0, 50_000_000), overheads, overheads, st.integers(0, 20_000), st.data())
def test_the_method_gives_back_the_parameters_of_a_network(
    latency: int, o_s: int, o_r: int, slope: int, data: Any
) -> None:
    slope_of_o = data.draw(st.integers(0, slope))
    gap = data.draw(st.integers(max(o_s, o_r), o_s + o_r + 2 * latency))  # the delay is longer, as the method requires
    network = Network(latency, o_s, o_r, gap, slope, slope_of_o)
    found = measured(network, [4, 340, 680, 1024])
    exact = {"L": latency, "o_s": o_s, "o_r": o_r, "g": network.g, "G": slope, "O": slope_of_o, "misfit": 0}
    assert {name: getattr(found, name) for name in exact} == pytest.approx(exact, rel=1e-6, abs=2)


def test_bursts_wait_for_a_receiver_that_takes_longer_than_the_gap() -> None:
    found = measured(Network(5_000_000, 1_000_000, 4_000_000, 2_000_000, 0, 0), [4, 8])
    assert found.g == pytest.approx(4_000_000) and found.o_r == pytest.approx(4_000_000)


def test_the_receivers_overhead_is_found_if_it_is_the_smaller_one() -> None:
    found = measured(Network(1_000_000, 8_000_000, 500_000, 9_000_000, 0, 0), [4, 8])
    assert found.o_r == pytest.approx(500_000)


def test_a_line_needs_two_sizes_and_has_a_residual() -> None:
    with pytest.raises(ValueError, match="measure two"):
        line([4, 4], [1.0, 2.0])
    assert line([1, 2, 3], [0.0, 3.0, 0.0]).misfit == pytest.approx(6**0.5)


def test_sizes_are_in_equal_steps_of_words() -> None:
    assert sizes_up_to(1024, 4) == [4, 340, 684, 1024]
    assert sizes_up_to(8, 100) == [4, 8]


WITH = LogGOPS(L=100, o=10, g=30, G=2, O=1)


def alone(*operations: Any) -> list[Step]:
    """Steps without order."""
    return [Step(one) for one in operations]


def test_a_message_takes_both_overheads_latency_and_its_bytes() -> None:
    # the sender: 10 + 4 x 1; there at 110, and taken in by 110 + 10 + 4 x 2
    assert finish_times([alone(Send(5, 1)), alone(Recv(5, 0))], WITH) == [14, 128]


def test_sends_of_a_rank_are_a_gap_apart_and_so_are_its_receives() -> None:
    # begins at 0, 30, 60; there at 110, 140, 170
    assert finish_times([alone(*[Send(1, 1)] * 3), alone(*[Recv(1, 0)] * 3)], WITH) == [70, 180]
    # two senders at once: the second message waits for the receiver's gap, until 140
    assert finish_times([alone(Recv(1, 1), Recv(1, 2)), alone(Send(1, 0)), alone(Send(1, 0))], WITH) == [150, 10, 10]


def test_the_gap_counts_from_the_beginning_and_a_longer_overhead_hides_it() -> None:
    slow = LogGOPS(L=100, o=50, g=30, G=0)
    assert finish_times([alone(Send(1, 1), Send(1, 1)), alone(Recv(1, 0), Recv(1, 0))], slow) == [100, 250]


def test_computing_holds_the_cpu_and_a_message_that_comes_meanwhile_waits() -> None:
    assert finish_times([alone(Send(1, 1)), alone(Recv(1, 0), Calc(500))], WITH) == [10, 510]


def test_a_step_begins_when_those_that_it_requires_are_done() -> None:
    relay = [Step(Recv(1, 0)), Step(Calc(5), (0,)), Step(Send(1, 2), (1,))]
    # there at 110, taken in by 120, computed by 125, sent by 135, there at 235, taken in by 245
    assert finish_times([alone(Send(1, 1)), relay, alone(Recv(1, 1))], WITH) == [10, 135, 245]


def test_a_receive_takes_the_message_of_its_source_and_tag_even_if_it_came_before() -> None:
    first = [Step(Send(1, 1, 7)), Step(Send(1, 1, 8), (0,))]
    second = [Step(Recv(1, 0, 8)), Step(Recv(1, 0, 7), (0,)), Step(Calc(1), (1,))]
    # both are there at 110 and 140; the second one is received at 150, then the first
    assert finish_times([first, second], WITH) == [40, 151]


def test_a_long_message_keeps_its_sender_until_the_receive_meets_it() -> None:
    rendezvous = LogGOPS(L=100, o=10, g=30, G=0, S=4)
    sender = [Step(Send(5, 1)), Step(Calc(1), (0,))]
    # message and receive meet when the receiver has computed, at 510; no time is taken for telling the sender
    receiver = [Step(Calc(510)), Step(Recv(5, 0), (0,))]
    assert finish_times([sender, receiver], rendezvous) == [511, 520]
    eager = [Step(Send(4, 1)), Step(Calc(1), (0,))]
    assert finish_times([eager, [Step(Calc(510)), Step(Recv(4, 0), (0,))]], rendezvous) == [11, 520]


def test_a_schedule_that_cannot_end_is_rejected() -> None:
    with pytest.raises(ValueError, match="rank 1 waits for ever: recv 1b from 0 tag 9"):
        finish_times([alone(Send(1, 1, 8)), alone(Recv(1, 0, 9))], WITH)
    with pytest.raises(ValueError, match="without bytes"):
        finish_times([alone(Send(0, 1)), alone(Recv(0, 0))], WITH)


@given(st.integers(2, 9), st.integers(1, 4096), st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_an_all_to_all_is_never_faster_than_any_of_its_parts(ranks: int, size: int, L: int, o: int, g: int) -> None:  # noqa: N803
    times = finish_times(all_to_all(ranks, size), LogGOPS(L, o, g, G=3))
    one = 2 * o + L + 3 * (size - 1)
    busy = (ranks - 1) * 2 * o
    sending = (ranks - 2) * (g + 3 * (size - 1)) + one
    assert min(times) >= max(one, busy, sending)


def test_without_costs_a_message_takes_no_time() -> None:
    assert finish_times([alone(Send(1, 1)), alone(Recv(1, 0))], LogGOPS(0, 0, 0, 0)) == [0, 0]


def test_a_schedule_is_written_as_loggopsim_reads_it() -> None:
    ranks = [(0, 1, 2, 2, 1), (1, 2, 0, 0, 2), (2, 0, 1, 1, 0)]
    assert text(all_to_all(3, 8)) == "num_ranks 3\n" + "".join(
        f"\nrank {rank} {{\nl1: send 8b to {first} tag 0\nl2: send 8b to {second} tag 0\nl2 requires l1\n"
        f"l3: recv 8b from {third} tag 0\nl3 requires l2\nl4: recv 8b from {fourth} tag 0\nl4 requires l3\n}}\n"
        for rank, first, second, third, fourth in ranks
    )
    assert text([alone(Calc(3))]) == "num_ranks 1\n\nrank 0 {\nl1: calc 3\n}\n"
    assert LogGOPS(1, 2, 3, 4, 5, 6).words() == "-L 1 -o 2 -g 3 -G 4 -O 5 -S 6"
