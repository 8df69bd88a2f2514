// Further cards of a node behind a PCI-to-PCI bridge: bridge, far bus, cards, and the sleep of the far bus's clock.
module sim_behind
  import myri_sleep_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE = 0,  // first unit number of the node, and its settings unit
    parameter int MEMORY = 0,  // see sim_slots
    parameter int CLOCK_FAR = 0,  // index of the far bus's clock
    parameter int CLOCK_FABRIC = 0,  // index of the fabric clock
    parameter int FPGA = 0,  // see sim_slots
    parameter int FRAME = 0,  // see sim_slots
    parameter int MONITOR = 0  // 1 = with a monitor of the far bus
) (
    input  logic            clk,
    input  logic            rst,
    input  logic     [47:0] cycle,
    output logic            busy,
    output logic            in_flight,
    input  logic            far_clk,
    input  logic     [47:0] far_cycle,
    output logic            far_awake,
    input  logic            fabric_clk,
    input  logic     [47:0] fabric_cycle,
    output logic            fabric_awake,
    input  pci_in_t         pci_in,
    output pci_out_t        pci_out
);
  localparam logic [31:0] WINDOW = 32'hE000_0000;  // all slots; the first one, the NIC's, is the bridge's hole
  pci_card_settings_t nic_q, cfg;
  fpga_settings_t fpga_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      nic_q  <= pci_card_settings(BASE);
      fpga_q <= fpga_settings(BASE);
    end
  end
  always_comb begin
    cfg = nic_q;  // as for the NIC beside it, apart from the window
    cfg.base = WINDOW;
  end

  logic [ 2*PCI_IN_BITS-1:0] slot_in;
  logic [2*PCI_OUT_BITS-1:0] slot_out;
  logic far_busy, far_in_flight, far_conflict;
  pci_bridge_trace_t trace;
  pci_wires_t far_wires;
  logic [2:0] far_requests_n, far_grants_n;
  myri_pci_bridge #(
      .CARDS(2)
  ) bridge (
      .clk,
      .rst,
      .cycle,
      .busy,
      .pci_in,
      .pci_out,
      .far_clk,
      .far_cycle,
      .far_busy,
      .slot_in,
      .slot_out,
      .cfg,
      .far_conflict,
      .trace,
      .in_flight,
      .far_in_flight,
      .far_rst(rst),
      .slot_present({1'(FRAME), 1'(FPGA)}),
      .cfg_cdc_latency(fpga_q.cdc_latency),
      .cfg_far_wide(fpga_q.wide),
      .far_wires,
      .far_req_n(far_requests_n),
      .far_gnt_n(far_grants_n)
  );

  logic slots_busy, slots_in_flight;
  alarm_t slots_alarm;
  sim_slots #(
      .BASE(BASE),
      .MEMORY(MEMORY),
      .CLOCK_FABRIC(CLOCK_FABRIC),
      .FPGA(FPGA),
      .FRAME(FRAME)
  ) slots (
      .rst,
      .faults(1'b0),  // the supply of cards behind a bridge does not fail
      .fabric_clk,
      .fabric_cycle,
      .fabric_awake,
      .slot_in,
      .slot_out,
      .clk(far_clk),
      .cycle(far_cycle),
      .busy(slots_busy),
      .alarm(slots_alarm),
      .in_flight(slots_in_flight)
  );

  logic monitor_busy;
  if (MONITOR != 0) begin : gen_monitor
    sim_pci_monitor #(
        .UNIT  (BASE + PART_PCI_FAR),
        .AGENTS(3)
    ) monitor (
        .rst,
        .clk(far_clk),
        .wires(far_wires),
        .grants_n(far_grants_n),
        .requests_n(far_requests_n),
        .conflict(far_conflict),
        .busy(monitor_busy)
    );
  end else begin : gen_no_monitor
    assign monitor_busy = 1'b0;
    logic unused_wires;
    assign unused_wires = &{1'b0, far_wires, far_grants_n, far_requests_n};
  end

  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(70)
  ) one_driver (
      .clk(far_clk),
      .rst,
      .strobe(far_conflict),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(80)
  ) lost (
      .clk,
      .rst,
      .strobe(trace.lost),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(80)
  ) far_lost (
      .clk(far_clk),
      .rst,
      .strobe(trace.far_lost),
      .packet(32'd1)
  );
  sim_awake #(
      .CLOCK(CLOCK_FAR)
  ) far_sleep (
      .clk(far_clk),
      .rst,
      .cycle(far_cycle),
      .busy(far_busy | slots_busy | monitor_busy),
      .in_flight(far_in_flight | slots_in_flight),
      .alarm(slots_alarm),
      .awake(far_awake)
  );
endmodule
