"""Streams of a block bench bind all of their wires or none: one error names the missing ones.

Strategy: an entity of plain objects, without a simulator, from which one wire after the other is removed. A source or
sink on it must be rejected with the names of the missing wires before it drives any.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tb.agents.streams import StreamSink, StreamSource
from tb.agents.wires import MissingWiresError


class Entity:
    """Block with some wires."""

    _name = "block"

    def __init__(self, *wires: str) -> None:
        self.wires = {name: SimpleNamespace(value=None) for name in wires}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["wires"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Any:
        return self.wires[name]


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        (("in_ready",), "block: missing wires in_ready; the agent binds in_valid, in_ready, in_data"),
        (
            ("in_valid", "in_data"),
            "block: missing wires in_valid, in_data; the agent binds in_valid, in_ready, in_data",
        ),
    ],
)
def test_a_missing_wire_is_named(missing: tuple[str, ...], told: str) -> None:
    dut = Entity(*({"in_valid", "in_ready", "in_data", "rst"} - set(missing)))
    with pytest.raises(MissingWiresError) as source:
        StreamSource(dut, "in", ("data",), None)
    with pytest.raises(MissingWiresError) as sink:
        StreamSink(dut, "in", ("data",), None, lambda _: None)
    assert (str(source.value), str(sink.value)) == (told, told)
    assert all(wire.value is None for wire in dut.wires.values())
