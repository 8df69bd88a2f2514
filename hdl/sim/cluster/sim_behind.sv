// The further cards of a node behind a PCI-to-PCI bridge: bridge, far bus, cards, and the sleep of the far bus's clock.
module sim_behind
  import myri_pci_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE = 0,  // first unit number of the node, and its settings unit
    parameter int MEMORY = 0,  // as sim_slots
    parameter int CLOCK_FAR = 0,  // index of the far bus's clock
    parameter int CLOCK_FABRIC = 0,  // index of the fabric clock
    parameter int FPGA = 0,  // as sim_slots
    parameter int FRAME = 0  // as sim_slots
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [            47:0] cycle,
    output logic                    busy,
    output logic                    in_flight,
    input  logic                    far_clk,
    input  logic [            47:0] far_cycle,
    output logic                    far_awake,
    input  logic                    fabric_clk,
    input  logic [            47:0] fabric_cycle,
    output logic                    fabric_awake,
    input  logic [ PCI_IN_BITS-1:0] pci_in,
    output logic [PCI_OUT_BITS-1:0] pci_out
);
  localparam int BUS_FIRST = SET_CARD_LATENCY_TIMER;
  localparam int BUS_COUNT = SET_CARD_DISCARD - BUS_FIRST + 1;
  localparam logic [31:0] WINDOW = 32'hE000_0000;  // all slots; the first one, the NIC's, is the bridge's hole
  logic [32*BUS_COUNT-1:0] bus;
  logic [63:0] near;
  logic [31:0] far_wide, crossing;
  sim_setting #(
      .UNIT (BASE),
      .KEY  (BUS_FIRST),
      .COUNT(BUS_COUNT)
  ) bus_settings (
      .clk,
      .rst,
      .value(bus)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (SET_PCI_WIDE),
      .COUNT(2)
  ) near_settings (
      .clk,
      .rst,
      .value(near)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (SET_FPGA_WIDE),
      .COUNT(1)
  ) far_setting (
      .clk,
      .rst,
      .value(far_wide)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (SET_CDC_LATENCY),
      .COUNT(1)
  ) crossing_setting (
      .clk,
      .rst,
      .value(crossing)
  );

  logic [ 2*PCI_IN_BITS-1:0] slot_in;
  logic [2*PCI_OUT_BITS-1:0] slot_out;
  logic far_busy, far_in_flight, far_conflict, ev_lost, ev_far_lost;
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
      .far_rst(rst),
      .far_cycle,
      .far_busy,
      .slot_in,
      .slot_out,
      .slot_present({1'(FRAME), 1'(FPGA)}),
      .cfg_base(WINDOW),
      .cfg_cdc_latency(crossing[3:0]),
      .cfg_wide(near[0]),
      .cfg_m66(near[32]),
      .cfg_far_wide(far_wide[0]),
      .cfg_devsel(bus[32*(SET_CARD_DEVSEL-BUS_FIRST)+:2]),
      .cfg_write_initial(bus[32*(SET_CARD_WRITE_INITIAL-BUS_FIRST)+:4]),
      .cfg_read_initial(bus[32*(SET_CARD_READ_INITIAL-BUS_FIRST)+:4]),
      .cfg_subsequent(bus[32*(SET_CARD_SUBSEQUENT-BUS_FIRST)+:3]),
      .cfg_read_wait(bus[32*(SET_CARD_READ_WAIT-BUS_FIRST)+:4]),
      .cfg_stall_limit(bus[32*(SET_CARD_STALL_LIMIT-BUS_FIRST)+:3]),
      .cfg_max_phases(bus[32*(SET_CARD_MAX_PHASES-BUS_FIRST)+:8]),
      .cfg_discard(bus[32*(SET_CARD_DISCARD-BUS_FIRST)+:16]),
      .cfg_latency_timer(bus[32*(SET_CARD_LATENCY_TIMER-BUS_FIRST)+:8]),
      .cfg_max_burst(bus[32*(SET_CARD_MAX_BURST-BUS_FIRST)+:16]),
      .cfg_start_delay(bus[32*(SET_CARD_START_DELAY-BUS_FIRST)+:8]),
      .cfg_irdy_wait(bus[32*(SET_CARD_IRDY_WAIT-BUS_FIRST)+:3]),
      .cfg_line_bytes(bus[32*(SET_CARD_LINE_BYTES-BUS_FIRST)+:7]),
      .far_wires(),
      .far_req_n(),
      .far_gnt_n(),
      .far_conflict,
      .ev_lost,
      .ev_far_lost,
      .in_flight,
      .far_in_flight
  );

  logic slots_busy, slots_alarm_valid, slots_in_flight;
  logic [47:0] slots_alarm_cycle;
  sim_slots #(
      .BASE(BASE),
      .MEMORY(MEMORY),
      .CLOCK_FABRIC(CLOCK_FABRIC),
      .FPGA(FPGA),
      .FRAME(FRAME)
  ) slots (
      .clk(far_clk),
      .rst,
      .cycle(far_cycle),
      .busy(slots_busy),
      .alarm_valid(slots_alarm_valid),
      .alarm_cycle(slots_alarm_cycle),
      .in_flight(slots_in_flight),
      .fabric_clk,
      .fabric_cycle,
      .fabric_awake,
      .slot_in,
      .slot_out
  );

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
      .strobe(ev_lost),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(80)
  ) far_lost (
      .clk(far_clk),
      .rst,
      .strobe(ev_far_lost),
      .packet(32'd1)
  );
  sim_awake #(
      .CLOCK(CLOCK_FAR)
  ) far_sleep (
      .clk(far_clk),
      .rst,
      .cycle(far_cycle),
      .busy(far_busy | slots_busy),
      .in_flight(far_in_flight | slots_in_flight),
      .alarm_valid(slots_alarm_valid),
      .alarm_cycle(slots_alarm_cycle),
      .awake(far_awake)
  );

  logic unused;
  assign unused = &{1'b0, bus, near, far_wide, crossing};
endmodule
