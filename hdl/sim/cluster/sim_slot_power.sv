// Supply of the card in a slot, with the slot's hot-plug controller, which isolates the card from the bus.
//
// Without supply the controller waits until the bus is idle, as it must before it switches the slot. From that edge on
// the card drives nothing and is in reset, so it has lost its state when the supply returns. Python gets an event at the
// edge, and destroys the contents of the card's memory.
`include "doorway.svh"
module sim_slot_power
  import myri_pci_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int UNIT = 0,  // the host CPU's unit number
    parameter int SLOT = 1   // connector on the bus
) (
    input logic clk,
    input logic rst,
    input logic faults,  // 1 = a fault of the cluster is active or pending
    input pci_in_t pci_in,  // wires of the slot
    input pci_out_t card_out,  // what the card drives
    output pci_out_t pci_out,  // what the slot drives
    output logic off,  // 1 = the card has no supply: hold it in reset
    output logic busy  // 1 = a further edge is needed
);
  localparam int EVENT_POWER = 37;
  localparam int FAULT_POWER = 24;  // kind in the trace, see tb/lab/faults.py
  localparam logic [1:0] SETTLED = 2'd3;  // edges in reset
  logic wanted_q, idle;
  logic [1:0] edges_q;
  longint now;
  int supply;
  assign idle = pci_in.wires.frame_n && pci_in.wires.irdy_n;
  assign pci_out = off ? PCI_NOTHING : card_out;
  assign busy = wanted_q != off || edges_q != SETTLED;
  always_ff @(posedge clk) begin
    if (rst) begin
      wanted_q <= 1'b0;
      off <= 1'b0;
      edges_q <= SETTLED;
    end else if (faults) begin
      now = $time;
      supply = `SAN(san_power) (now, UNIT, SLOT);
      wanted_q <= supply[0];
      if (edges_q != SETTLED) edges_q <= edges_q + 2'd1;
      if (wanted_q != off && idle) begin
        off <= wanted_q;
        edges_q <= '0;
        `SAN(san_trace) (now, UNIT, {16'd0, EV_FAULT}, 32'd0, FAULT_POWER, {55'd0, wanted_q, 8'(SLOT)});
        `SAN(san_event) (now, UNIT, EVENT_POWER, 64'(SLOT), {63'd0, wanted_q});
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, pci_in, supply};
endmodule
