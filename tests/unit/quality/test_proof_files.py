"""Files of proofs and their mutants; no tool is called.

Strategy: every file of properties states how it is proved, and lists no mutant that does not exist. Valid heads are
parsed; invalid ones are rejected. Mutants of a small module are listed by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.build.build import Design, needed_files
from tb.quality import prove
from tb.quality.mutants import mutants, sampled
from tb.quality.proofs import _parsed, proofs, unseen, with_properties
from tb.tools.programs import ToolError

MODULE = """// A counter; its comment says && and 1'b0.
module counter #(
    parameter int WIDTH = 4  // bits
) (
    input  logic             clk,   // clock
    input  logic             go,    // counts
    output logic [WIDTH-1:0] count  // result
);
  logic [WIDTH-1:0] next;
  assign next = count + 4'd3;
  always_ff @(posedge clk) if (go && !count[0]) count <= next;
  for (genvar i = 0; i < WIDTH - 1; i++) begin : gen_bit
    always_ff @(posedge clk)
      if (go || (part <= next) ) begin
        part <= next;
      end
  end
endmodule
"""


def source(block: str) -> str:
    """Return the text of a block."""
    (path,) = (one for one in needed_files(Design(block)) if one.stem == block)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", sorted({one.block for one in proofs()}))
def test_unseen_mutants_exist_and_have_a_reason(block: str) -> None:
    proof = next(one for one in proofs() if one.block == block)
    assert set(unseen(proof)) <= {mutant.shown for mutant in mutants(source(block))}
    assert all(len(reason) > 10 for reason in unseen(proof).values())


def test_a_proof_header_is_parsed() -> None:
    proof = _parsed(Path("myri_fifo.svh"), "// prove: bounded 20 free WIDTH=2 DEPTH_LOG2=3")
    assert (proof.block, proof.method, proof.steps, proof.free) == ("myri_fifo", "bounded", 20, True)
    assert dict(proof.parameters) == {"WIDTH": 2, "DEPTH_LOG2": 3} and proof.shown == "WIDTH=2 DEPTH_LOG2=3"


@pytest.mark.parametrize("head", ["// prove: soon 3", "// prove: bounded", "// prove: induction 2 WIDTH"])
def test_an_invalid_proof_header_is_rejected(head: str) -> None:
    with pytest.raises(ToolError, match="it is no way to prove; write `// prove: bounded 20 free WIDTH=2`"):
        _parsed(Path("myri_fifo.svh"), head)


def test_an_unknown_block_is_rejected_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main(["myri_fifi"]) == 2
    assert "unknown block 'myri_fifi'" in (said := capsys.readouterr().err) and "myri_fifo" in said


def test_properties_are_inserted_at_the_end_of_the_body() -> None:
    assert with_properties("module a;\nendmodule\n", "assert (1);") == "module a;\nassert (1);\nendmodule\n"


def test_mutants_are_single_changes_outside_of_declarations_and_comments() -> None:
    assert [mutant.shown for mutant in mutants(MODULE)] == [
        "`+` -> `-` in `assign next = count + 4'd3;`",
        "`4'd3` -> `4'd4` in `assign next = count + 4'd3;`",
        "`&&` -> `||` in `always_ff @(posedge clk) if (go && !count[0]) count <= next;`",
        "`!` -> ` ` in `always_ff @(posedge clk) if (go && !count[0]) count <= next;`",
        "`count <= next;` -> `begin end` in `always_ff @(posedge clk) if (go && !count[0]) count <= next;`",
        "`||` -> `&&` in `if (go || (part <= next) ) begin`",
        "`part <= next;` -> `;` in `part <= next;`",
    ]
    first = mutants(MODULE)[0]
    assert first.apply_to(MODULE) == MODULE.replace("count + 4", "count - 4") and first.line == 10


def test_a_sample_depends_only_on_its_seed() -> None:
    text = mutants(source("myri_fifo"))
    assert sampled(text, 5, 3) == sampled(text, 5, 3) != sampled(text, 5, 4)
    assert len(sampled(text, 5, 3)) == 5 and sampled(text, 1000, 3) == text
