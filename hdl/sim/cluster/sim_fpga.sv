// The FPGA card of a node with its run-time settings, SRAM, trace points, invariants, and the sleep of its fabric clock.
module sim_fpga
  import myri_pci_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE         = 0,  // first unit number of the node, and its settings unit
    parameter int SLOT         = 1,  // connector on the bus
    parameter int MEMORY       = 0,  // number of the SRAM
    parameter int CLOCK_FABRIC = 0   // index of the fabric clock
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [            47:0] cycle,
    output logic                    busy,
    output logic                    alarm_valid,
    output logic [            47:0] alarm_cycle,
    output logic                    in_flight,
    input  logic                    fabric_clk,
    input  logic [            47:0] fabric_cycle,
    output logic                    fabric_awake,
    input  logic [ PCI_IN_BITS-1:0] pci_in,
    output logic [PCI_OUT_BITS-1:0] pci_out
);
  // ---------------------------------------------------------------- run-time settings
  localparam int BUS_FIRST = SET_CARD_LATENCY_TIMER;
  localparam int BUS_COUNT = SET_CARD_DISCARD - BUS_FIRST + 1;
  localparam int OWN_FIRST = SET_FPGA_WIDE;
  localparam int OWN_COUNT = SET_FPGA_PAUSE - OWN_FIRST + 1;
  logic [32*BUS_COUNT-1:0] bus;
  logic [32*OWN_COUNT-1:0] own;
  logic [31:0] crossing;
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
      .KEY  (OWN_FIRST),
      .COUNT(OWN_COUNT)
  ) own_settings (
      .clk,
      .rst,
      .value(own)
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

  // ---------------------------------------------------------------- the card and its SRAM
  logic f_busy, mem_valid, mem_write, head_valid, head_bank, result_valid, bank_valid, bank_write;
  logic [22:0] mem_addr;
  logic [31:0] mem_wdata, mem_rdata, head_rdata, result_wdata, bank_wdata, bank_rdata;
  logic [3:0] mem_be;
  logic [18:0] head_addr, result_addr, bank_addr;
  logic [3:0] ev_patience;
  logic ev_mailbox, ev_trespass, tr_take, tr_give;
  logic [31:0] tr_key;
  myri_fpga_card card (
      .f_clk(fabric_clk),
      .f_rst(rst),
      .cfg_base(32'hE000_0000 + 32'(SLOT) * 32'h0100_0000),
      .cfg_cdc_latency(crossing[3:0]),
      .cfg_wide(own[32*(SET_FPGA_WIDE-OWN_FIRST)]),
      .cfg_m66(own[32*(SET_FPGA_M66-OWN_FIRST)]),
      .cfg_latency_timer(bus[32*(SET_CARD_LATENCY_TIMER-BUS_FIRST)+:8]),
      .cfg_max_burst(bus[32*(SET_CARD_MAX_BURST-BUS_FIRST)+:16]),
      .cfg_start_delay(own[32*(SET_FPGA_START_DELAY-OWN_FIRST)+:8]),
      .cfg_irdy_wait(bus[32*(SET_CARD_IRDY_WAIT-BUS_FIRST)+:3]),
      .cfg_line_bytes(bus[32*(SET_CARD_LINE_BYTES-BUS_FIRST)+:7]),
      .cfg_devsel(bus[32*(SET_CARD_DEVSEL-BUS_FIRST)+:2]),
      .cfg_write_initial(own[32*(SET_FPGA_WRITE_INITIAL-OWN_FIRST)+:4]),
      .cfg_read_initial(own[32*(SET_FPGA_READ_INITIAL-OWN_FIRST)+:4]),
      .cfg_subsequent(bus[32*(SET_CARD_SUBSEQUENT-BUS_FIRST)+:3]),
      .cfg_read_wait(bus[32*(SET_CARD_READ_WAIT-BUS_FIRST)+:4]),
      .cfg_stall_limit(bus[32*(SET_CARD_STALL_LIMIT-BUS_FIRST)+:3]),
      .cfg_max_phases(bus[32*(SET_CARD_MAX_PHASES-BUS_FIRST)+:8]),
      .cfg_discard(bus[32*(SET_CARD_DISCARD-BUS_FIRST)+:16]),
      .cfg_linger(own[32*(SET_FPGA_LINGER-OWN_FIRST)+:8]),
      .cfg_patience(own[32*(SET_FPGA_PATIENCE-OWN_FIRST)+:16]),
      .cfg_pause(own[32*(SET_FPGA_PAUSE-OWN_FIRST)+:8]),
      .tr_first(),
      .tr_last(),
      .st_in_flight(in_flight),
      .*
  );
  sim_card_memory #(
      .MEMORY(MEMORY)
  ) sram (
      .f_clk(fabric_clk),
      .*
  );

  // ---------------------------------------------------------------- trace, invariants, sleep
  sim_probe #(
      .UNIT (BASE + PART_FPGA),
      .EVENT(EV_CARD_TAKE)
  ) take (
      .clk(fabric_clk),
      .rst,
      .strobe(tr_take),
      .packet(tr_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_FPGA),
      .EVENT(EV_CARD_GIVE)
  ) give (
      .clk(fabric_clk),
      .rst,
      .strobe(tr_give),
      .packet(tr_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  for (genvar i = 0; i < 4; i++) begin : gen_bank
    sim_invariant #(
        .UNIT(BASE + PART_FPGA),
        .CODE(74)
    ) patience (
        .clk,
        .rst,
        .strobe(ev_patience[i]),
        .packet(32'(i))
    );
  end
  sim_invariant #(
      .UNIT(BASE + PART_FPGA),
      .CODE(75)
  ) mailbox (
      .clk,
      .rst,
      .strobe(ev_mailbox),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_FPGA),
      .CODE(76)
  ) trespass (
      .clk(fabric_clk),
      .rst,
      .strobe(ev_trespass),
      .packet(32'd0)
  );
  sim_awake #(
      .CLOCK(CLOCK_FABRIC)
  ) fabric_sleep (
      .clk(fabric_clk),
      .rst,
      .cycle(fabric_cycle),
      .busy(f_busy),
      .in_flight(f_busy),
      .alarm_valid(1'b0),
      .alarm_cycle(48'd0),
      .awake(fabric_awake)
  );

  logic unused;
  assign unused = &{1'b0, bus, own, crossing};
endmodule
