"""The rules that `make lint` checks in the text of HDL and Python, and the changes to a file
for Yosys.

Strategy: small pieces of SystemVerilog and Python, one for each forbidden construct, beside similar allowed ones; each
complaint is checked with its line. No tool is started.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tb.build import build
from tb.quality import dialect, lint, python, sentences, text, words
from tb.quality.check import Check, each
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("#10 a = 1;", "a delay"),
        ("a <= #1 b;", "a delay"),
        ("assign #(2) a = b;", "a delay"),
        ("begin #(T/2) a = 1; end", "a delay"),
        ("wire #1.5 a;", "a delay"),
        ("always #PERIOD clk = ~clk;", "a delay"),
        ("now = $time;", "`$time`: simulation only"),
        ("x = $random;", "`$random`: simulation only"),
        ("always_ff @(negedge clk) q <= d;", "`negedge`: simulation only"),
        ('import "DPI-C" function int f();', "no DPI outside hdl/sim"),
        ("unique if (a) b = 1;", "outside the dialect"),
        ("if (a inside {1, 2}) b = 1;", "`inside`: outside the dialect"),
    ],
)
def test_a_simulation_construct_is_reported_with_its_line(source: str, complaint: str) -> None:
    found = text.unlike_hardware(f"// header\nmodule m;\n  {source}\nendmodule\n")
    assert [line for line, _ in found] == [3]
    assert complaint in found[0][1]


@pytest.mark.parametrize(
    "source",
    [
        "myri_fifo #(.WIDTH(9)) u_fifo (.clk(clk));",
        "myri_fifo\n  #(\n .WIDTH(9)) u_fifo (.clk(clk));",
        "// #10, $time, negedge, wait",
        "/* #10\n $time */",
        'initial $fatal(1, "wait #10 for $time");',
        "logic timer; logic waiting; logic force_stop;",
        "always_ff @(posedge clk) q <= d;",
        "import myri_pci_pkg::*;",
    ],
)
def test_similar_constructs_of_hardware_are_accepted(source: str) -> None:
    assert text.unlike_hardware(f"module m;\n  {source}\nendmodule\n") == []


def test_no_line_number_becomes_a_picture() -> None:
    """Print `file.py:100: a complaint`, in which rich would replace `:100:` by an emoji."""
    for path in sorted((ROOT / "tb").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console":
                given = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert given.get("emoji") == "False", f"{path}:{node.lineno}"


def test_a_header_with_import_and_parameters_has_no_delay() -> None:
    assert (
        text.unlike_hardware("module m\n  import p::*;\n#(\n    parameter int A = 1  // one\n) ();\nendmodule\n") == []
    )


@pytest.mark.parametrize(
    ("name", "source", "complaints"),
    [
        ("myri_a", "// a\nmodule myri_a (\n    input logic clk  // clock\n);\nendmodule\n", []),
        ("myri_a_pkg", "// a\npackage myri_a_pkg;\nendpackage\n", []),
        ("myri_a", "// a\nmodule myri_b;\nendmodule\n", ["one module or package named myri_a expected, found: myri_b"]),
        ("myri_a", "// a\nmodule myri_a;\nendmodule\nmodule b;\nendmodule\n", ["expected, found: myri_a, b"]),
        ("a", "// a\nmodule a;\nendmodule\n", ["names in this folder start with myri_"]),
        ("myri_a", "module myri_a;\nendmodule\n", ["missing header comment"]),
        ("myri_a", "// a\nmodule myri_a (\n    input logic clk\n);\nendmodule\n", ["without a comment on its line"]),
    ],
)
def test_a_file_has_one_unit_of_its_name_a_header_and_documented_ports(
    name: str, source: str, complaints: list[str]
) -> None:
    found = [complaint for _, complaint in text.badly_formed(text.HDL / "prim" / f"{name}.sv", source)]
    assert len(found) == len(complaints)
    assert all(expected in complaint for expected, complaint in zip(complaints, found, strict=True))


def test_a_folder_in_the_list_of_sources_includes_its_files_packages_first(tmp_path: Path) -> None:
    there = ("hdl/nic/new/a.sv", "hdl/nic/new/z_pkg.sv", "hdl/nic/new/b.sv", "hdl/one.sv", "hdl/nic/new/README.md")
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "hdl" / "sources.f").write_text("hdl/one.sv\n// a comment\nhdl/nic/new/\n", encoding="utf-8")
    names = [path.relative_to(tmp_path).as_posix() for path in build.listed_files(tmp_path)]
    assert names == ["hdl/one.sv", "hdl/nic/new/z_pkg.sv", "hdl/nic/new/a.sv", "hdl/nic/new/b.sv"]


PACKAGE = """
package p;
  localparam int WIDTH = 8;          // not LATER
  localparam int LAST = WIDTH - 1;
  localparam logic [3:0] CODE = 4'h6;
  function automatic logic odd(input logic [7:0] a); odd = ^a; endfunction
endpackage
"""


@pytest.mark.parametrize(
    ("source", "resolved"),
    [
        ("module m import p::*; (input logic [WIDTH-1:0] a);", "module m  (input logic [p::WIDTH-1:0] a);"),
        ("import p::*; assign b = a[LAST:CODE];", " assign b = a[p::LAST:p::CODE];"),
        ("import p::*; assign b = a[LAST-:WIDTH];", " assign b = a[p::LAST-:p::WIDTH];"),
        ("import p::*; assign b = odd(a);", " assign b = p::odd(a);"),
        ("import p::*; assign b = x.LAST + q::LAST + `LAST + LATER;", " assign b = x.LAST + q::LAST + `LAST + LATER;"),
        ("assign b = LAST;", "assign b = LAST;"),
    ],
)
def test_imports_are_written_out_for_the_reader_of_yosys(source: str, resolved: str) -> None:
    assert dialect.imports_resolved(source, {"p": PACKAGE}) == resolved


TYPES = """
package types;
  typedef enum logic [1:0] {
    IDLE = 2'd0,  // waits
    MOVE = 2'd1
  } state_t;
  typedef struct packed {
    logic valid;
    logic [3:0][7:0] lanes;
    logic first, last;
  } beat_t;
  typedef struct packed {
    state_t state;
    beat_t beat;  // of a stream
  } both_t;
endpackage
"""


def test_members_of_an_enumeration_are_resolved_like_constants() -> None:
    source = "module m\n  import types::*;\n(); state_t state_q; assign done = state_q == MOVE; endmodule"
    resolved = "module m\n  \n(); types::state_t state_q; assign done = state_q == types::MOVE; endmodule"
    assert dialect.imports_resolved(source, {"types": TYPES}) == resolved


def test_bits_of_a_type_become_a_number_for_the_reader_of_yosys() -> None:
    known = dialect.widths([TYPES])
    assert (known["state_t"], known["beat_t"], known["both_t"]) == (2, 35, 37)
    assert dialect.bits_resolved("#(.WIDTH($bits(types::both_t) + 64))", known) == "#(.WIDTH(37 + 64))"
    assert dialect.bits_resolved("$bits(signal)", known) == "$bits(signal)"


def test_the_last_return_of_a_function_is_an_assignment_for_the_reader_of_yosys() -> None:
    source = """
function automatic logic [3:0] one(input logic [3:0] a);
  logic [3:0] b;
  b = a;
  return {b[0], b[3:1]};
endfunction
function automatic logic two(input logic a); two = a; endfunction
"""
    assert dialect.returns_resolved(source) == source.replace("return {", "one = {")


@pytest.mark.parametrize(
    "source",
    [
        "async def f():\n    return {a: [await b for b in a] for a in c}",
        "async def f():\n    return [[b async for b in a] for a in c]",
        "try:\n    a()\nexcept* OSError:\n    pass",
        "def f[T](a: T) -> T:\n    return a",
    ],
)
def test_syntax_that_the_oldest_python_rejects_is_found(source: str) -> None:
    assert len(python.too_new(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "async def f():\n    return [a for a in [await b for b in c]]",
        "async def f():\n    return [await b for b in c] + [[b for b in a] for a in c]",
        "match a:\n    case 1:\n        pass",
    ],
)
def test_syntax_of_the_oldest_python_is_accepted(source: str) -> None:
    assert python.too_new(source) == []


def test_an_unknown_check_names_the_nearest() -> None:
    with pytest.raises(ToolError, match=r"unknown check 'verilater'.*did you mean 'verilator -Wall'\?"):
        lint.chosen(["verilater"])


def test_checks_are_chosen_by_the_beginning_of_their_names() -> None:
    assert [check.name for check in lint.chosen(["ruff"])] == ["ruff check", "ruff format"]
    assert lint.chosen([]) == list(lint.CHECKS)


def test_a_missing_tool_is_a_complaint_not_a_crash() -> None:
    def look() -> tuple[str, list[str]]:
        raise ToolError("a tool is missing", "it is nowhere", "install it")

    outcome = Check("tool", look).run()
    assert not outcome.passed
    assert outcome.messages == ("a tool is missing: it is nowhere; install it",)


def test_complaints_keep_the_order_of_the_files_without_duplicates() -> None:
    paths = [Path(name) for name in ("c", "a", "b")]
    assert each(paths, lambda path: [f"{path}: x", "again"]) == ["c: x", "again", "a: x", "b: x"]


@pytest.mark.parametrize("check", [*words.CHECKS, *sentences.CHECKS], ids=lambda check: check.name)
def test_pages_and_sources_keep_the_rules_of_words(check: Check) -> None:
    assert check in lint.CHECKS
    assert check.run().messages == ()


@pytest.mark.parametrize("source", ["assign tx = 9'h00C;", "if (rx == 9'H0_30) busy = 1'b1;"])
def test_a_character_written_as_a_literal_is_found(source: str) -> None:
    assert [line for line, _ in text.nameless(f"// 9'h00C is GAP\nmodule m;\n  {source}\nendmodule\n")] == [3]


def test_other_literals_are_no_characters() -> None:
    assert text.nameless("assign a = 9'd0 + 19'h00C + 8'h0C; // 9'h00C\nassign b = GAP;\n") == []
