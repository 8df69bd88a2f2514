"""The check of clock crossings: the hardware has none outside synchronisers, and each way to break one is reported.

Strategy: modules of the tree are replaced by versions with one defect each: a second register that depends on the
pointer of the other clock, logic before the first register, a register that samples the other clock directly.
"""

from __future__ import annotations

import pytest

from tb.build.build import Design, needed_files
from tb.quality import crossings

BLOCK = "myri_cdc_fifo"


def _source(module: str) -> str:
    (path,) = (path for path in needed_files(Design(BLOCK)) if path.stem == module)
    return path.read_text(encoding="utf-8")


def _with(module: str, old: str, new: str) -> list[str]:
    text = _source(module)
    assert old in text
    return sorted(set(crossings.crossings(crossings.netlist(BLOCK, {module: text.replace(old, new)}))))


def test_hardware_has_no_crossing_outside_synchronisers() -> None:
    (check,) = crossings.CHECKS
    subject, complaints = check.look()
    assert complaints == []
    assert int(subject.split()[0]) >= 15


@pytest.mark.parametrize(
    ("module", "old", "new", "register", "other"),
    [
        (
            "myri_cdc_pointer",
            "else if (settling)",
            "else if (moving)",
            "u_to_read.chain_q of r_clk",
            "w_clk",
        ),
        (
            "myri_cdc_pointer",
            ".d  (source)",
            ".d  (source & {WIDTH{!rst}})",
            "u_to_write.u_sync.sync_q of w_clk",
            "r_clk",
        ),
        ("myri_cdc_fifo", "if (pop || r_settling || at_once)", "if (r_busy)", "head_q of r_clk", "w_clk"),
        (
            "myri_cdc_fifo",
            "else if (pop) begin",
            "else if (r_ready && w_valid && w_seen == 0) begin",
            "r_bin_q",
            "w_clk",
        ),
    ],
)
def test_register_that_samples_another_clock_is_reported(
    module: str, old: str, new: str, register: str, other: str
) -> None:
    complaints = _with(module, old, new)
    assert any(line.startswith(register) and line.endswith(f"a register of {other}") for line in complaints), complaints


def test_memory_outside_a_crossing_fifo_is_reported() -> None:
    complaints = _with(BLOCK, ") u_to_read (", ") u_to_reader (")
    assert any("depends on mem of w_clk" in line for line in complaints), complaints


def test_asynchronous_reset_outside_of_a_bridge_is_reported() -> None:
    old = "always_ff @(posedge w_clk) begin\n    if (w_rst)"
    complaints = _with(BLOCK, old, old.replace("w_clk)", "w_clk or posedge w_rst)"))
    assert "w_bin_q of w_clk has an asynchronous reset outside of myri_reset" in complaints


@pytest.mark.parametrize("clock", ["r_clk", "w_clk"])
def test_reset_of_a_bridge_belongs_to_the_clock_of_the_bridge(clock: str) -> None:
    """Check that a register of another clock may reset a bridge, but that the bridge's output is of its own clock."""
    (path,) = (path for path in needed_files(Design("myri_reset")) if path.stem == "myri_reset")
    text = f"""{path.read_text(encoding="utf-8")}
    module {BLOCK} (input logic w_clk, input logic r_clk, input logic d, output logic q);
      logic any, own;
      always_ff @(posedge w_clk) any <= d;
      myri_reset u_bridge (.clk(r_clk), .any_rst(any), .reset(own));
      always_ff @(posedge {clock}) q <= own;
    endmodule"""
    complaints = list(crossings.crossings(crossings.netlist(BLOCK, {BLOCK: text})))
    assert complaints == ([] if clock == "r_clk" else ["q of w_clk depends on a register of r_clk"])


def test_gated_clock_counts_as_the_clock_of_its_prefix() -> None:
    ports = ["clk", "gated_clk", "pci_clk", "pci_gated_clk", "send_clk", "cycle"]
    assert crossings.clocks(ports) == {
        "clk": "clk",
        "gated_clk": "clk",
        "pci_clk": "pci_clk",
        "pci_gated_clk": "pci_clk",
        "send_clk": "clk",
    }
    assert crossings.clocks(["clk", "pci_gated_clk"])["pci_gated_clk"] == "clk"
