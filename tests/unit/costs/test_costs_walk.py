"""The instruction counter against counts made by hand, for both processors; no compiler is needed.

Strategy: tests/unit/costs holds a paths.c for each processor with the compiler's output beside it; two functions of
each were counted by hand from the assembly and checked with a disassembler. Small pieces of assembly cover what the
counter must follow, skip or reject. Every error names the path and a remedy.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs.assembly import CostError, Function, Instruction, functions
from pymodels.costs.i686 import accesses, operands
from pymodels.costs.targets import POWERPC, POWERPC_HOST, TARGETS
from pymodels.costs.walk import PathCost, Walk, explain, walk

FIXTURES = Path(__file__).parent

BY_HAND = {
    # ld, sub.f, bne, slot (a frame instruction there counts as a nop), jump back and its slot, add
    ("nic", "scan_channel"): PathCost(instructions=7, loads=1, stores=0, uncached=0),
    # sh, mov, and.f, beq, slot, add, sample, mov, and.f, bne, nop, st, st; SMP and SMLT are written by the verb
    ("nic", "start_send"): PathCost(instructions=13, loads=0, stores=2, uncached=3),
    # argument, word, compare with the other argument, jne, jump back, xor, return (its address is a load)
    ("host", "look"): PathCost(instructions=7, loads=4, stores=0, uncached=0),
    # two pushes and pops, four arguments, two header words stored and one read back, incl loads and stores
    ("host", "build_header"): PathCost(instructions=21, loads=10, stores=5, uncached=0),
}


def count(side: str, body: str, name: str = "path") -> PathCost:
    """Return the cost of a function given by assembly lines."""
    return walk(function(side, body, name), "paths.c")


def function(side: str, body: str, name: str = "path") -> Function:
    """Return a function from assembly lines, one per line, labels with their colon."""
    lines = [
        line if line.endswith(":") else "\t" + line for line in (part.strip() for part in body.split("\n")) if line
    ]
    text = "\n".join([f"\t.globl\t{name}", f"{name}:", *lines, f"\t.size\t{name}, 0"])
    target = TARGETS[side][0]
    return functions(text, target.comment, target.decode)[0]


def powerpc(body: str) -> Function:
    """Return a function for the SP adapter's processor."""
    lines = ["\t.globl\tpath", "path:", *(part.strip() for part in body.split("\n")), "\t.size\tpath, 0"]
    return functions("\n".join(lines), POWERPC.comment, POWERPC.decode)[0]


def test_on_a_powerpc_shared_memory_and_registers_are_uncached_and_the_frame_is_free() -> None:
    body = """
        stwu 1, -16(1)
        stw 30, 8(1)
        lwz 4, 4(4)
        #@shared
        stw 4, 0(3)
        #@sample STATUS
        lwz 5, 0(0)
        #@write SEND0 5
        lwz 30, 8(1)
        addi 1, 1, 16
        blr"""
    assert walk(powerpc(body), "nic") == PathCost(instructions=3, loads=1, uncached=3)


def test_on_a_powerpc_of_a_host_the_frame_counts_and_a_lock_is_one_uncached_access() -> None:
    body = """
        stwu 1, -16(1)
        #@sample lock
        lwarx 5, 0, 3
        stwcx. 4, 0, 3
        bne- 0, .Lagain0
        .Lagain0:
        addi 1, 1, 16
        blr"""
    lines = ["\t.globl\tpath", "path:", *(part.strip() for part in body.split("\n")), "\t.size\tpath, 0"]
    found = functions("\n".join(lines), POWERPC_HOST.comment, POWERPC_HOST.decode)[0]
    assert walk(found, "host") == PathCost(instructions=6, stores=1, uncached=1)


def test_on_a_powerpc_a_return_may_be_conditional() -> None:
    """Expect the unmarked way as the likely one: return before the block, or fall through the return."""
    before = "cmplwi 3, 0\nbnelr+ 0\nli 3, 1\n#@off rare\nblr"
    assert walk(powerpc(before), "nic") == PathCost(instructions=2)
    behind = "cmplwi 3, 0\nbeqlr- 0\nlwz 3, 0(4)\nstw 3, 4(4)\nblr"
    assert walk(powerpc(behind), "nic") == PathCost(instructions=4, loads=1, stores=1)


@pytest.mark.parametrize("text", ["divwu 3, 4, 5", "lmw 28, 0(1)", "bctr", "bl helper"])
def test_uncountable_instructions_are_rejected_on_a_powerpc(text: str) -> None:
    with pytest.raises(CostError, match=text.split(maxsplit=1)[0]):
        walk(powerpc(f"{text}\nblr"), "nic")


@pytest.mark.parametrize(("side", "name"), sorted(BY_HAND))
def test_counts_equal_those_made_by_hand(side: str, name: str) -> None:
    target = TARGETS[side][0]
    found = functions((FIXTURES / side / "paths.s").read_text(encoding="utf-8"), target.comment, target.decode)
    assert [one.name for one in found] == [path for where, path in BY_HAND if where == side]
    assert {one.name: walk(one, side) for one in found}[name] == BY_HAND[side, name]


def test_the_explanation_lists_the_counted_events() -> None:
    target = TARGETS["nic"][0]
    first, _ = functions((FIXTURES / "nic" / "paths.s").read_text(encoding="utf-8"), target.comment, target.decode)
    assert explain(first, "nic") == [
        "ld 8[%r6], %r3",
        "sub.f %r3, %r7, %r0",
        "bne .LBB0_1",
        "sub %sp, 0x8, %sp (frame, as a nop)",
        "(jump back, 2 instructions)",
        "add %r6, 0x10, %rv",
    ]


RETURN = """
    ld -4[%fp], %pc ! return
    add %fp, 0x0, %sp
    ld -8[%fp], %fp
"""


def test_an_unconditional_branch_is_followed_with_its_delay_slot() -> None:
    cost = count("nic", "bt .LBB0_2\nadd %r6, 0x1, %r6\nst %r6, 0[%r7]\n.LBB0_2:\nst %r6, 4[%r7]" + RETURN)
    assert cost == PathCost(instructions=3, stores=1)


def test_each_instruction_of_a_path_has_its_index_in_the_function() -> None:
    walker = Walk(
        function("nic", "ld 4[%r6], %r9\nbeq .LBB0_1\nsub %sp, 0x8, %sp\nadd %r9, 0x1, %r9\n.LBB0_1:" + RETURN), ""
    )
    walker.run()
    places = {item.text: place for place, item in enumerate(walker.function.items) if isinstance(item, Instruction)}
    assert [one.item for one in walker.path] == [
        places[text.removesuffix(" (frame, as a nop)")] for text in walker.steps
    ]


def test_branch_around_a_block_off_the_path_is_taken() -> None:
    body = """
        sub.f %r6, 0x0, %r0
        bne .LBB0_2
        nop
    .LBB0_1:
        !APP
        !@off rare
        !NO_APP
        st %r6, 0[%r7]
        st %r6, 4[%r7]
    .LBB0_2:
        st %r6, 8[%r7]
    """
    assert count("nic", body + RETURN) == PathCost(instructions=4, stores=1)


def test_a_mark_after_a_joining_label_does_not_belong_to_the_block_before() -> None:
    body = """
        bne .LBB0_2
        nop
    .LBB0_1:
        add %r6, 0x1, %r6
    .LBB0_2:
        !@off rare
    """
    with pytest.raises(CostError, match=r"enters the block OFF_PATH\('rare'\); say LIKELY or UNLIKELY"):
        count("nic", body + RETURN)


def test_spills_of_registers_count_and_the_frame_does_not() -> None:
    body = "st %fp, [--%sp]\nadd %sp, 0x8, %fp\nsub %sp, 0x10, %sp\nst %r12, -12[%fp]\nld -12[%fp], %r12"
    assert count("nic", body + RETURN) == PathCost(instructions=2, loads=1, stores=1)


def test_a_plain_access_after_a_sample_is_cached_again() -> None:
    body = "!@sample ISR\nld 0[%r0], %r9\nld 0[%r6], %r10"
    assert count("nic", body + RETURN) == PathCost(instructions=2, loads=1, uncached=1)


def test_words_that_cross_the_bus_are_not_counted() -> None:
    assert count("host", "#@pio_write %eax\n#@pio_read %eax\nretl") == PathCost(instructions=1, loads=1)


@pytest.mark.parametrize(
    ("side", "body", "message"),
    [
        ("nic", "add %pc, 0x10, %rca\nst %rca, [--%sp]\nbt __mulsi3\nnop", "path 'path': calls a function"),
        ("nic", "bt other\nnop", "jumps out of the function to other; make the callee `static inline`"),
        ("nic", "bt %r6\nnop", "an indirect jump has no single likely target; write it in another way"),
        ("nic", ".LBB0_1:\nld 0[%r6], %r3\nbeq .LBB0_1\nnop", "has a loop .*; one turn of a loop is a path; repeat it"),
        ("nic", ".LBB0_1:\nadd %r6, 0x1, %r6\nbt .LBB0_1\nnop", "runs in a circle; one turn of a loop is a path"),
        ("nic", "add %r6, 0x1, %r6", "runs off its end; end the function with a return"),
        ("nic", "bne .LBB0_1\n.LBB0_1:\nnop", "has no plain instruction in the delay slot of 'bne .LBB0_1'"),
        ("nic", "!@offf x", "has an unknown mark @offf; use the macros of firmware/paths.h"),
        ("host", "calll foo", "calls foo"),
        ("host", "jmp memcpy", "jumps out of the function to memcpy"),
        ("host", "divl 8(%esp)", "a division takes tens of clocks"),
        ("host", "rep;movsl (%esi), %es:(%edi)", "a string instruction is many accesses"),
    ],
)
def test_uncountable_code_is_rejected_with_a_remedy(side: str, body: str, message: str) -> None:
    with pytest.raises(CostError, match=message):
        count(side, body + (RETURN if side == "nic" and "off its end" not in message else ""))


@pytest.mark.parametrize(
    ("text", "loads", "stores"),
    [
        ("movl %eax, %ecx", 0, 0),
        ("movl $foo, %eax", 0, 0),
        ("movl foo, %eax", 1, 0),
        ("movl %eax, -420", 0, 1),
        ("movl %edx, (%ecx,%esi,4)", 0, 1),
        ("addl $1, 4(%eax)", 1, 1),
        ("addl 4(%eax), %ecx", 1, 0),
        ("cmpl $0, (%eax)", 1, 0),
        ("testl %ecx, 4(%esp)", 1, 0),
        ("leal 4(%eax,%ecx), %edx", 0, 0),
        ("pushl %ebx", 0, 1),
        ("pushl 4(%eax)", 1, 1),
        ("popl %ebx", 1, 0),
        ("popl (%eax)", 1, 1),
        ("notl (%eax)", 1, 1),
        ("sete 3(%eax)", 0, 1),
        ("imull $12, 4(%esp), %eax", 1, 0),
        ("mull 4(%esp)", 1, 0),
        ("movzwl (%eax), %eax", 1, 0),
        ("movups %xmm0, (%eax)", 0, 1),
        ("cmovel (%eax), %ecx", 1, 0),
        ("xchgl %eax, (%ecx)", 1, 1),
        ("prefetchnta (%eax)", 0, 0),
    ],
)
def test_memory_operands_of_the_host_are_loads_and_stores(text: str, loads: int, stores: int) -> None:
    name, _, rest = text.partition(" ")
    assert accesses(name, operands(rest)) == (loads, stores)
