// Shared wires of one PCI bus: each agent supplies a drive and an enable per signal, and all agents see the resolved
// value.
//
// An undriven wire reads 1 (pull-up), because an agent supplies 1 where it does not drive. Combinational; the
// utilisation counters count clock edges on which the bus is busy.
// IDSEL of agent k (k >= 1) is AD[16+k-1]; agent 0 is the host bridge and has no IDSEL.
module myri_pci_bus
  import myri_pci_pkg::*;
#(
    parameter int AGENTS = 2  // agents on the bus, 2..9
) (
    input logic clk,  // PCI clock (counters only)
    input logic rst,  // synchronous, active high
    input  logic [PCI_OUT_BITS*AGENTS-1:0] agent_out,    // what each agent drives, agent 0 in the low bits
    output logic [PCI_IN_BITS*AGENTS-1:0] agent_in,  // what each agent sees
    input logic [AGENTS-1:0] gnt_n,  // grants from the arbiter
    output logic [AGENTS-1:0] req_n,  // requests to the arbiter
    output logic [AGENTS-1:0] inta_n,  // INTA# of each agent
    output pci_wires_t wires,  // resolved shared wires
    output logic conflict,  // two agents drive one signal
    output logic [31:0] count_data,  // clocks that moved data
    output logic [31:0] count_busy,  // clocks with FRAME# or IRDY# low
    output logic busy  // 1 = a transaction is on the bus
);
  logic [AGENTS-1:0] m66;  // card can run at 66 MHz

  for (genvar k = 0; k < AGENTS; k++) begin : gen_agent
    pci_out_t pins;
    pci_wires_t joined;  // AND of the agents up to this one
    pci_enables_t once;  // enabled by an agent up to this one
    pci_enables_t twice;  // enabled by two of them
    assign pins = agent_out[PCI_OUT_BITS*k+:PCI_OUT_BITS];
    if (k == 0) begin : gen_head
      assign joined = pins.wires;
      assign once   = pins.enables;
      assign twice  = '0;
    end else begin : gen_next
      assign joined = gen_agent[k-1].joined & pins.wires;
      assign once   = gen_agent[k-1].once | pins.enables;
      assign twice  = gen_agent[k-1].twice | (gen_agent[k-1].once & pins.enables);
    end
    assign req_n[k] = pins.req_n;
    assign inta_n[k] = pins.inta_n;
    assign m66[k] = pins.m66;
    logic idsel;
    if (k == 0) begin : gen_no_idsel
      assign idsel = 1'b0;
    end else begin : gen_idsel
      assign idsel = wires.ad[16+k-1];
    end
    assign agent_in[PCI_IN_BITS*k+:PCI_IN_BITS] = {&m66, idsel, gnt_n[k], wires};
  end

  assign wires = gen_agent[AGENTS-1].joined;
  // SERR# (the top enable) is open drain: two drivers do not conflict.
  assign conflict = |gen_agent[AGENTS-1].twice[PCI_ENABLES-2:0];
  assign busy = ~wires.frame_n | ~wires.irdy_n;

  always_ff @(posedge clk) begin
    if (rst) begin
      count_data <= '0;
      count_busy <= '0;
    end else if (busy) begin
      count_busy <= count_busy + 32'd1;
      if (~wires.irdy_n & ~wires.trdy_n) count_data <= count_data + 32'd1;
    end
  end

  logic unused;
  assign unused = &{1'b0, gen_agent[AGENTS-1].twice, gen_agent[AGENTS-1].once};
endmodule
