"""Conformance of the machine to the protocols of the verbs.

Strategy: the machine satisfies the verbs without importing them. `mypy --strict` checks the types in this file (`make
lint`). At run time every verb is compared by name and parameters. A verb that is added to the protocol and missing in
the machine fails both checks.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from firmware.verbs import Buffer, Concurrency, Host, Nic, PollLoop, Signal, Waitable, Watch
from firmware.view import ClusterView
from pymodels.kernel import Event, Future, Kernel
from pymodels.machine import Machine, ModelBuffer, ModelHost, ModelNic
from pymodels.machine.spin import Spin
from tb.bind.host import RtlHost
from tb.bind.lanai import RtlNic, RtlPollLoop


def as_nic(nic: ModelNic) -> Nic:
    """Return a NIC, as a type check."""
    return nic


def as_host(host: ModelHost) -> Host:
    """Return a host, as a type check."""
    return host


Small = tuple[Buffer, PollLoop, Signal, Waitable]


def as_small(buffer: ModelBuffer, spin: Spin, event: Event, future: Future[int]) -> Small:
    """Return the values of verbs, as a type check."""
    return buffer, spin, event, future


def verbs(protocol: type[Any]) -> list[str]:
    """Names of a protocol's methods."""
    return sorted(name for name, value in vars(protocol).items() if inspect.isfunction(value) and name[0] != "_")


def is_awaited(function: Any) -> bool:
    """Return True if a verb is a coroutine function, or is declared to return an awaitable."""
    returns = str(inspect.signature(function).return_annotation)
    return inspect.iscoroutinefunction(function) or returns.startswith(("Awaitable[", "Coroutine[", "Future["))


@pytest.mark.parametrize(
    ("protocol", "model"),
    [
        (Nic, ModelNic),
        (Host, ModelHost),
        (Concurrency, ModelNic),
        (Concurrency, ModelHost),
        (PollLoop, Spin),
        (Nic, RtlNic),
        (Host, RtlHost),
        (PollLoop, RtlPollLoop),
    ],
)
def test_every_verb_exists_with_the_same_parameters(protocol: type[Any], model: type[Any]) -> None:
    for name in verbs(protocol):
        wanted, offered = getattr(protocol, name), getattr(model, name)
        assert list(inspect.signature(offered).parameters) == list(inspect.signature(wanted).parameters), name
        assert is_awaited(offered) == is_awaited(wanted), name


def test_every_attribute_of_the_verbs_exists() -> None:
    machine = Machine(2)
    for protocol, model in ((Nic, machine.nic(1)), (Host, machine.host(1)), (Buffer, machine.host(1).allocate(64))):
        for name in protocol.__annotations__:
            assert hasattr(model, name), name
    assert as_nic(machine.nic(1)).node == 1
    assert as_host(machine.host(1)).nic_base == 0xE0000000


def test_return_types_of_verbs_match() -> None:
    machine, kernel = Machine(2), Kernel()
    spin = machine.nic(0).poll_loop([Watch(0, 0, "look")])
    fits = as_small(machine.host(0).allocate(8), spin, Event(kernel), Future(kernel))
    assert len(fits) == 4


def test_a_view_of_the_machine_makes_a_cluster_view() -> None:
    view = ClusterView(**Machine(3).view(1, window=4))
    assert (view.me, view.names, dict(view.options)) == (1, ("host0", "host1", "host2"), {"window": 4})
    assert dict(view.routes) == {0: b"\xbf", 2: b"\x81"}
