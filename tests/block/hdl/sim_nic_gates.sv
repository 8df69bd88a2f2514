// Three clocks of a NIC bench, each gated when unneeded. A LANai 4 has one clock for NIC and PCI bus: both gates are
// then driven by `clk` and decide alike, so their edges are the same.
module sim_nic_gates
  import myri_sleep_pkg::*;
#(
    parameter int KIND = 9  // of the NIC: 9 or 4; 0 = SP adapter
) (
    input  logic          clk,           // free-running: NIC
    input  logic          link_clk,      // link
    input  logic          pci_clk,       // PCI bus; not used with KIND 4
    input  logic          rst,           // all clocks run in reset
    input  logic          sleep,         // 1 = skip clock edges that no module needs
    input  logic          busy,          // the NIC needs the coming edge
    input  alarm_t        alarm,         // it wants to be awake
    input  logic          link_busy,     // its link side likewise
    input  alarm_t        link_alarm,
    input  logic          cable_busy,    // the cable needs it
    input  logic          pci_busy,      // its PCI side
    input  logic          segment_busy,  // the bus
    output logic          run_clk,       // the clocks as the NIC gets them
    output logic          run_link_clk,  // of the link
    output logic          run_pci_clk,   // of the bus
    output logic   [47:0] cycle,         // index of the coming NIC edge
    output logic   [47:0] link_cycle,    // of the link edge
    output logic   [47:0] pci_cycle,     // of the PCI edge
    output logic   [31:0] edges,         // edges that the NIC clock had
    output logic   [31:0] link_edges,    // the link clock
    output logic   [31:0] pci_edges,     // the PCI clock
    output logic          asleep         // no clock needs an edge
);
  localparam logic ONE_CLOCK = KIND == 4;
  logic clk_busy, bus_busy;

  assign bus_busy = pci_busy || segment_busy;
  assign clk_busy = busy || (ONE_CLOCK && segment_busy);
  assign asleep   = !(busy || link_busy || cable_busy || bus_busy);

  sim_gate u_gate (
      .*,
      .busy (clk_busy),
      .gated(run_clk)
  );
  sim_gate u_link_gate (
      .clk  (link_clk),
      .rst  (rst),
      .sleep(sleep),
      .busy (link_busy || cable_busy),
      .alarm(link_alarm),
      .gated(run_link_clk),
      .cycle(link_cycle),
      .edges(link_edges)
  );
  if (ONE_CLOCK) begin : gen_one_clock
    sim_gate u_pci_gate (
        .*,
        .busy (clk_busy),
        .gated(run_pci_clk),
        .cycle(pci_cycle),
        .edges(pci_edges)
    );
  end else begin : gen_pci_clock
    sim_gate u_pci_gate (
        .clk  (pci_clk),
        .rst  (rst),
        .sleep(sleep),
        .busy (bus_busy),
        .alarm(myri_sleep_pkg::NO_ALARM),
        .gated(run_pci_clk),
        .cycle(pci_cycle),
        .edges(pci_edges)
    );
  end

  logic unused;
  assign unused = &{1'b0, pci_clk};
endmodule
