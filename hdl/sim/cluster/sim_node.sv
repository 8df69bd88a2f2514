// Host with its NIC in a cluster: the host, the NIC's card, further cards, the arriving cable, and the sleep of their
// clocks. No behaviour of its own. With ONE_CLOCK, `nic_clk` and `pci_clk` are the same, and `nic_awake` is valid for
// both. The card is the module SIM_NIC_CARD of the build; all cards include the same ports.
`include "sim_nic_card.svh"
module sim_node
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int ONE_CLOCK = 0,  // 1 = the NIC and the PCI bus have one clock
    parameter int NODE = 0,  // VNN
    parameter int CLOCK_NIC = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0,  // index of the link clock
    parameter int CLOCK_PCI = 0,  // index of the PCI clock
    parameter int CABLE = 0,  // number of the cable direction that arrives
    parameter int CARRIED = 0,  // see sim_cable
    parameter int CLOCK_FABRIC = 0,  // index of the fabric clock of the FPGA card
    parameter int FPGA = 0,  // 1 = an FPGA card in slot 1
    parameter int FRAME = 0,  // 1 = a frame buffer in slot 2
    parameter int IO = 0,  // 1 = an I/O card in slot 3
    parameter int BRIDGE       = 0,  // 1 = FPGA card and frame buffer behind a bridge, on a bus of their own
    parameter int CLOCK_FAR = 0,  // index of that bus's clock
    parameter int MONITOR = 0  // 1 = with monitors of its buses and its link
) (
    input logic rst,
    input logic faults,
    input logic setup_gated_clk,  // clock of the settings: needed in reset only
    output logic setup_gated_needed,
    input logic [ENGINES-1:0] nic_gated_clk,  // clocks of the NIC's engines, see myri_nic_engines_pkg
    output logic [ENGINES-1:0] nic_gated_needed,
    input logic nic_clk,
    input logic [47:0] nic_cycle,
    input logic nic_refresh,  // rises before the first edge after a sleep
    output logic nic_awake,
    input logic link_clk,
    input logic [HALVES-1:0] link_gated_clk,  // clocks of its halves, gated; HALF_RX also clocks the cable
    output logic [HALVES-1:0] link_gated_needed,
    input logic [47:0] link_cycle,
    output logic link_awake,
    input logic pci_clk,
    input logic [PCI_SIDES-1:0] host_pci_gated_clk,  // clocks of the host bridge's sides, see myri_pci_pkg
    output logic [PCI_SIDES-1:0] host_pci_gated_needed,
    input logic [PCI_SIDES-1:0] card_pci_gated_clk,  // clocks of the NIC's PCI sides
    output logic [PCI_SIDES-1:0] card_pci_gated_needed,
    input logic [47:0] pci_cycle,
    output logic pci_awake,
    input logic fabric_clk,
    input logic [47:0] fabric_cycle,
    output logic fabric_awake,
    input logic far_clk,
    input logic [47:0] far_cycle,
    output logic far_awake,
    input logic [8:0] in,
    output logic [8:0] tx
);
  localparam int BASE = NODE * PARTS_PER_NODE;
  assign setup_gated_needed = 1'b0;
  localparam int SLOTS = IO != 0 ? 4 : FPGA == 0 && FRAME == 0 ? 1 : BRIDGE != 0 ? 2 : 3;
  localparam int CARD_MEMORIES = 2048;  // host memories and SRAMs have the numbers below

  logic [8:0] rx;
  logic stop_lasts, cable_moves, cable_busy, beat_owed, beat_busy, beat_alarm_busy, struck;
  logic [7:0] cable_delay;
  logic [31:0] cfg_beat_period;
  alarm_t beat_alarm;
  logic [HALVES-1:0] card_half;
  assign cable_busy = cable_moves | beat_busy | beat_alarm_busy;
  assign link_gated_needed = card_half | ({{(HALVES - 1) {1'b0}}, cable_busy | beat_owed} << HALF_RX);
  sim_cable #(
      .CABLE  (CABLE),
      .CARRIED(CARRIED)
  ) cable (
      .rst,
      .faults,
      .in,
      .rx,
      .stop_lasts,
      .struck,
      .clk(link_gated_clk[HALF_RX]),
      .cycle(link_cycle),
      .due(beat_owed),
      .cfg_delay(cable_delay),
      .busy(cable_moves)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (SET_CABLE_DELAY),
      .WIDTH(8)
  ) delay (
      .clk  (setup_gated_clk),
      .rst,
      .value(cable_delay)
  );
  sim_setting #(
      .UNIT(BASE),
      .KEY (SET_BEAT_PERIOD)
  ) beat_period (
      .clk  (setup_gated_clk),
      .rst,
      .value(cfg_beat_period)
  );
  sim_beats beats (
      .rst,
      .cfg_beat_period,
      .struck,
      .clk(link_clk),
      .cycle(link_cycle),
      .present(1'b1),
      .cfg_delay(cable_delay),
      .due(beat_owed),
      .busy(beat_busy),
      .alarm(beat_alarm)
  );
  sim_alarm #(
      .CLOCK(CLOCK_LINK)
  ) beat_wake_up (
      .clk  (link_clk),
      .alarm(beat_alarm),
      .cycle(link_cycle),
      .busy (beat_alarm_busy)
  );

  logic [PCI_IN_BITS*SLOTS-1:0] slot_in;
  logic [PCI_OUT_BITS*SLOTS-1:0] slot_out;
  logic [SLOTS-1:0] slot_present;
  logic host_busy, host_in_flight;
  sim_node_host #(
      .NODE(NODE),
      .SLOTS(SLOTS),
      .MONITOR(MONITOR)
  ) host (
      .setup_gated_clk,
      .rst,
      .slot_in,
      .slot_out,
      .slot_present,
      .clk(pci_clk),
      .pci_gated_clk(host_pci_gated_clk),
      .pci_gated_needed(host_pci_gated_needed),
      .cycle(pci_cycle),
      .busy(host_busy),
      .in_flight(host_in_flight)
  );

  logic nic_busy, nic_in_flight, link_busy, link_in_flight;
  logic card_busy;
  alarm_t nic_alarm, link_alarm;
  `SIM_NIC_CARD #(
      .NODE(NODE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK),
      .CLOCK_PCI(CLOCK_PCI)
  ) card (
      .*,
      .clk(nic_clk),
      .link_gated_needed(card_half),
      .cycle(nic_cycle),
      .refresh(nic_refresh),
      .busy(nic_busy),
      .alarm(nic_alarm),
      .in_flight(nic_in_flight),
      .pci_gated_clk(card_pci_gated_clk),
      .pci_gated_needed(card_pci_gated_needed),
      .pci_busy(card_busy),
      .pci_in(slot_in[PCI_IN_BITS-1:0]),
      .pci_out(slot_out[PCI_OUT_BITS-1:0])
  );

  logic slots_busy, slots_in_flight;
  alarm_t slots_alarm;
  assign slot_present[0] = 1'b1;
  if (SLOTS == 2) begin : gen_behind
    assign slot_present[1] = 1'b1;
    assign slots_alarm = NO_ALARM;
    sim_behind #(
        .BASE(BASE),
        .MEMORY(CARD_MEMORIES + 2 * NODE),
        .CLOCK_FAR(CLOCK_FAR),
        .CLOCK_FABRIC(CLOCK_FABRIC),
        .FPGA(FPGA),
        .FRAME(FRAME),
        .MONITOR(MONITOR)
    ) behind (
        .rst,
        .far_clk,
        .far_cycle,
        .far_awake,
        .fabric_clk,
        .fabric_cycle,
        .fabric_awake,
        .clk(pci_clk),
        .cycle(pci_cycle),
        .busy(slots_busy),
        .in_flight(slots_in_flight),
        .pci_in(slot_in[PCI_IN_BITS*1+:PCI_IN_BITS]),
        .pci_out(slot_out[PCI_OUT_BITS*1+:PCI_OUT_BITS])
    );
  end else if (SLOTS > 1) begin : gen_slots
    assign far_awake = 1'b0;
    assign slot_present[2:1] = {1'(FRAME), 1'(FPGA)};
    if (SLOTS > 3) begin : gen_io_slot
      assign slot_present[3] = 1'b1;
    end
    sim_slots #(
        .BASE(BASE),
        .MEMORY(CARD_MEMORIES + 2 * NODE),
        .CLOCK_FABRIC(CLOCK_FABRIC),
        .FPGA(FPGA),
        .FRAME(FRAME),
        .IO(IO),
        .SLOTS(SLOTS - 1)
    ) slots (
        .rst,
        .faults,
        .fabric_clk,
        .fabric_cycle,
        .fabric_awake,
        .clk(pci_clk),
        .cycle(pci_cycle),
        .busy(slots_busy),
        .alarm(slots_alarm),
        .in_flight(slots_in_flight),
        .slot_in(slot_in[PCI_IN_BITS*SLOTS-1:PCI_IN_BITS]),
        .slot_out(slot_out[PCI_OUT_BITS*SLOTS-1:PCI_OUT_BITS])
    );
  end else begin : gen_no_slots
    assign slots_busy = 1'b0;
    assign slots_alarm = NO_ALARM;
    assign slots_in_flight = 1'b0;
    assign {fabric_awake, far_awake} = '0;
  end

  logic monitor_busy;
  if (MONITOR != 0) begin : gen_monitor
    sim_monitor #(
        .UNIT(BASE + PART_LINK)
    ) monitor (
        .clk  (link_clk),
        .rst,
        .wires({110'd0, tx[8] ? 9'd0 : tx, rx}),  // of those that leave, control characters
        .ends (rx == myri_symbol_pkg::GAP),
        .busy (monitor_busy)
    );
  end else begin : gen_no_monitor
    assign monitor_busy = 1'b0;
  end

  logic bus_busy, bus_in_flight;
  assign bus_busy = host_busy | card_busy | slots_busy;
  assign bus_in_flight = host_in_flight | card_busy | slots_in_flight;
  sim_awake #(
      .CLOCK(CLOCK_NIC)
  ) nic_sleep (
      .clk(nic_clk),
      .rst,
      .cycle(nic_cycle),
      .busy(nic_busy | (ONE_CLOCK != 0 & bus_busy)),
      .in_flight(nic_in_flight | (ONE_CLOCK != 0 & bus_in_flight)),
      .alarm(ONE_CLOCK != 0 ? earlier(nic_alarm, slots_alarm) : nic_alarm),
      .awake(nic_awake)
  );
  sim_awake #(
      .CLOCK(CLOCK_LINK)
  ) link_sleep (
      .clk(link_clk),
      .rst,
      .cycle(link_cycle),
      .busy(link_busy | cable_busy | monitor_busy),
      .in_flight(link_in_flight),
      .alarm(link_alarm),
      .awake(link_awake)
  );
  if (ONE_CLOCK != 0) begin : gen_no_pci_clock
    assign pci_awake = 1'b0;
  end else begin : gen_pci_clock
    sim_awake #(
        .CLOCK(CLOCK_PCI)
    ) pci_sleep (
        .clk(pci_clk),
        .rst,
        .cycle(pci_cycle),
        .busy(bus_busy),
        .in_flight(bus_in_flight),
        .alarm(slots_alarm),
        .awake(pci_awake)
    );
  end

  logic unused;
  assign unused = &{1'b0, nic_gated_clk, link_gated_clk, fabric_clk, fabric_cycle, far_clk, far_cycle};
endmodule
