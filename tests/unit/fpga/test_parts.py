"""Blocks taken apart at the boundaries of their modules, in RTLIL that is written here.

Strategy: ports of a child and of a memory become ports of the part with the opposite direction. Instances that differ
in Yosys' running numbers are one part. The constants of a memory that is never written stay. The verdict on a block
adds those on its parts, and names the part of each point that is not proved.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tb.fpga import equivalence
from tb.fpga.equivalence import Verdict, aliases, widened
from tb.fpga.mapping import Block
from tb.fpga.parts import Part, opened, parts_of
from tb.quality.check import LATE
from tb.tools.programs import ToolError

CHILD = """
  wire input 1 \\a
  wire width 2 output 2 \\y
  wire $x$NUMBER_Y
  cell $not $x$NUMBER
    connect \\A \\a
    connect \\Y $x$NUMBER_Y
  end
  connect \\y { $x$NUMBER_Y LOWEST }
"""
TOP = """
  wire input 1 \\a
  wire width 2 output 2 \\y
  wire width 2 \\u_one_y
  cell \\child$top.u_one \\u_one
    connect \\a \\a
    connect \\y \\u_one_y
  end
  cell \\child$top.u_two \\u_two
    connect \\a \\u_one_y [1]
    connect \\y \\y
  end
"""
MEMORY = """
  wire width 8 output 1 \\q
  cell $mem_v2 \\mem
    parameter \\MEMID "\\\\mem"
    parameter \\ABITS 4
    parameter \\WIDTH 8
    parameter \\RD_PORTS 1
    parameter \\WR_PORTS {writes}
    connect \\RD_ADDR 4'0011
    connect \\RD_DATA \\q
    connect \\WR_EN 8'11111111
  end
"""


def _module(name: str, body: str) -> str:
    return f'attribute \\src "a.sv"\nmodule \\{name}{body}end\n'


@pytest.fixture
def parts() -> list[Part]:
    """Return the parts of a top with two instances of one module."""
    first, second = (CHILD.replace("NUMBER", number).replace("LOWEST", "\\a") for number in ("3", "7"))
    text = _module("top", TOP) + _module("child$top.u_one", first) + _module("child$top.u_two", second)
    return list(parts_of(text, "top"))


def test_ports_of_children_are_ports_of_the_part_with_the_opposite_direction(parts: list[Part]) -> None:
    text = parts[0].text
    assert "cell" not in text
    assert re.search(r"wire width 1 output \d+ \\u_one_a\n", text)
    assert re.search(r"wire width 2 input \d+ \\u_one_y_2\n", text), "the name u_one_y is taken by a wire"
    assert "  connect \\u_one_a \\a\n" in text and "  connect \\u_one_y \\u_one_y_2\n" in text
    assert "  connect \\u_two_a \\u_one_y [1]\n" in text and "  connect \\y \\u_two_y\n" in text
    numbers = re.findall(r"(?:input|output) (\d+)", text)
    assert sorted(numbers) == ["1", "2", "3", "4", "5", "6"]


def test_instances_that_differ_in_running_numbers_are_one_part(parts: list[Part]) -> None:
    assert [part.shown for part in parts] == ["top", "child (u_one)"]
    assert not parts[1].files and "attribute \\src" not in parts[1].text


def test_instances_with_other_constants_are_two_parts() -> None:
    first, second = (CHILD.replace("NUMBER", "3").replace("LOWEST", lowest) for lowest in ("\\a", "1'1"))
    text = _module("top", TOP) + _module("child$top.u_one", first) + _module("child$top.u_two", second)
    assert len(list(parts_of(text, "top"))) == 3


def test_ports_of_a_memory_are_ports_of_the_part() -> None:
    text = opened(MEMORY.format(writes=1), {})
    assert "$mem_v2" not in text
    assert re.search(r"wire width 4 output \d+ \\mem_RD_ADDR\n", text)
    assert re.search(r"wire width 8 input \d+ \\mem_RD_DATA\n", text)
    assert "  connect \\q \\mem_RD_DATA\n" in text and "  connect \\mem_WR_EN 8'11111111\n" in text


def test_a_memory_that_is_never_written_stays() -> None:
    body = MEMORY.format(writes=0)
    assert opened(body, {}) == body


def test_a_port_in_both_directions_is_rejected() -> None:
    with pytest.raises(ToolError, match="port y of u_two: it is input and output"):
        opened(TOP, {"child$top.u_two": {"y": ("inout", 2)}})


def test_a_wire_that_is_one_net_with_an_unproved_point_is_an_alias_unless_it_is_a_port() -> None:
    said = r"""
  Unproven $equiv $auto$equiv_make.cc:258:find_same_wires$1: \mem_WR_EN_gold [7] \push_gate
  Unproven $equiv $auto$equiv_make.cc:258:find_same_wires$2: \valid_gold \u_a.valid_gate [2]
  Unproven $equiv $auto$equiv_make.cc:258:find_same_wires$3: \busy_gold \busy_gate
  Unproven $equiv $auto$equiv_make.cc:258:find_same_wires$4: \one_gold \two_gate
"""
    assert aliases(said, "module m(one, two, mem_WR_EN);\n") == {"push", "u_a.valid"}


def test_a_register_whose_high_bits_mapping_removes_has_them_as_zeros_but_not_a_port_or_a_state() -> None:
    text = "  wire width 3 \\full_q\n  wire width 4 \\state_q\n  wire width 2 output 1 \\out\n  wire \\same_q\n"
    netlist = (
        "module m(out);\n  reg full_q;\n  reg state_q;\n  wire out;\n  reg same_q;\n  assign a = full_q;\nendmodule\n"
    )
    made = widened(netlist, text, ".fsm m state_q\n.map 00 1\n")
    assert "  reg full_q_narrow;\n" in made and "  assign a = full_q_narrow;\n" in made
    assert made.endswith("  wire [2:0] full_q;\n  assign full_q = { 2'h0, full_q_narrow };\nendmodule\n")
    assert "state_q_narrow" not in made and "out_narrow" not in made and "same_q_narrow" not in made


@pytest.fixture
def of_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Verdict | ToolError], Verdict]:
    """Return a function that compares a block of two parts, the second of which has a given verdict."""

    def compare(second: Verdict | ToolError) -> Verdict:
        def verdict(part: Part, _cells: str) -> Verdict:
            if part.module == "a":
                return Verdict(part, "generic", 5, 3)
            if isinstance(second, ToolError):
                raise second
            return second

        monkeypatch.setattr(equivalence, "split", lambda _block: [Part("a"), Part("b", where="u_b")])
        monkeypatch.setattr(equivalence, "part_verdict", verdict)
        return equivalence.tried(Block("myri_fifo"), "generic", parts=True)

    return compare


def test_a_block_is_proved_if_all_of_its_parts_are(of_parts: Callable[[Verdict | ToolError], Verdict]) -> None:
    verdict = of_parts(Verdict(Part("b"), "generic", 7, 4))
    assert (verdict.shown, verdict.count, verdict.points, verdict.parts) == ("proved by parts", 12, 7, 2)


def test_a_point_of_a_part_that_is_not_proved_is_named(of_parts: Callable[[Verdict | ToolError], Verdict]) -> None:
    verdict = of_parts(Verdict(Part("b", where="u_b"), "generic", 7, 4, ("q",)))
    assert verdict.differs and verdict.shown == "by parts: 1 of 7 points not proved"
    assert "b (u_b): q: not proved" in "".join(equivalence.lines(verdict))


def test_a_part_that_is_late_is_named(of_parts: Callable[[Verdict | ToolError], Verdict]) -> None:
    late = ToolError("b", f"yosys {LATE} 300 s", "")
    assert of_parts(late).shown == "by parts: not proved within 300 s: b"


def test_the_verdict_on_the_whole_block_is_shown_beside_that_on_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block("myri_fifo")
    monkeypatch.setattr(equivalence, "judged", lambda *_: Verdict(block, "generic", 9, not_tried=equivalence.TOO_LARGE))
    monkeypatch.setattr(equivalence, "by_parts", lambda *_: Verdict(block, "generic", 9, 3, parts=2))
    assert equivalence.tried(block, "generic").shown == "proved by parts; whole: too large"
