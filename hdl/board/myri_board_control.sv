// Registers of a board, region CONTROL of its address map (pymodels/board/map.py).
//
// Timing: an access ends in the clock after the one in which it begins; a read of WAIT when a comparator in WAIT_MASK
// has matched, or after WAIT_LIMIT clocks.
module myri_board_control
  import myri_board_pkg::*;
#(
    parameter logic [7:0] TOP = TOP_PAIR,  // TOP_*
    parameter int NODES = 2,  // nodes
    parameter bit CORE = 1'b1,  // the NICs have processors
    parameter int SRAM_LOG2 = 16,  // bytes of SRAM
    parameter int MEMORY_LOG2 = 16,  // bytes of host memory
    parameter int RING_LOG2 = 10,  // records of the trace ring
    parameter int TIMEOUT = 2500000  // inactivity time-out of the bridge
) (
    input logic clk,  // bus clock
    input logic rst,  // synchronous reset
    input board_identity_t identity,  // hash and frequencies; static
    input logic bus_valid,  // access, until bus_ready
    output logic bus_ready,  // the access ends in this clock
    input logic bus_write,  // 1 = write
    input logic [11:0] bus_offset,  // register, CONTROL_*
    input logic [31:0] bus_wdata,  // write data
    output logic [31:0] bus_rdata,  // read data, with bus_ready
    output logic run,  // 0 = nodes and switches are held in reset
    input logic [31:0] line_check,  // see myri_board_bridge
    input logic [31:0] reply_check,  // see myri_board_bridge
    output logic restart,  // see myri_board_bridge
    input logic line_error,  // strobe: a byte was lost or damaged
    input logic timed_out,  // strobe: a command was dropped
    input logic bus_error,  // strobe: an access was not answered
    output logic ring_clear,  // strobe: empty the trace ring
    output logic ring_record,  // records are kept
    output logic ring_stop,  // a full ring keeps its oldest records
    input logic [31:0] ring_written,  // records since the last clear
    input logic [COMPARATORS*NODES-1:0] hits,  // comparators that have matched, of this clock
    output logic latch,  // each change latches the counters of the other clocks
    input logic [1:0] latched_valid,  // a latched value arrives: NIC, link
    input logic [95:0] latched  // the values, NIC lowest
);
  localparam logic [7:0] NIC = TOP == TOP_CARD ? 8'd0 : 8'd4;  // kind of NIC, 0 for none

  logic ready_q, over, take, write;
  logic [31:0] rdata_q, read;
  logic [31:0] scratch_q, mask_q, limit_q, wait_q, line_errors_q, timeouts_q, bus_errors_q;
  logic [1:0] mode_q;
  logic [47:0] cycle_q;  // bus clock
  logic [47:0] cycles_q[3];  // latched
  logic [1:0] pending_q;  // clocks that have not latched yet

  assign bus_ready = ready_q;
  assign bus_rdata = rdata_q;
  assign over = bus_write || bus_offset != CONTROL_WAIT || (mask_q & 32'(hits)) != 32'd0 || wait_q >= limit_q;
  assign take = bus_valid && !ready_q && over;
  assign write = take && bus_write;
  assign restart = take && !bus_write && bus_offset == CONTROL_LINE_CHECK;
  assign ring_clear = write && bus_offset == CONTROL_TRACE_MODE;
  assign ring_record = mode_q[0];
  assign ring_stop = mode_q[1];

  always_ff @(posedge clk) begin
    ready_q <= take && !rst;
    if (take) rdata_q <= read;
    if (rst || !bus_valid || take) wait_q <= 32'd0;
    else wait_q <= wait_q + 32'd1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      run <= 1'b0;
      scratch_q <= 32'd0;
      mask_q <= 32'd0;
      limit_q <= 32'd0;
      mode_q <= 2'd0;
    end else if (write) begin
      case (bus_offset)
        CONTROL_RESET: run <= !bus_wdata[0];
        CONTROL_SCRATCH: scratch_q <= bus_wdata;
        CONTROL_WAIT_MASK: mask_q <= bus_wdata;
        CONTROL_WAIT_LIMIT: limit_q <= bus_wdata;
        CONTROL_TRACE_MODE: mode_q <= bus_wdata[1:0];
        default: begin
        end
      endcase
    end
  end

  // Errors.
  always_ff @(posedge clk) begin
    if (rst) begin
      line_errors_q <= 32'd0;
      timeouts_q <= 32'd0;
      bus_errors_q <= 32'd0;
    end else begin
      if (write && bus_offset == CONTROL_LINE_ERRORS) line_errors_q <= 32'd0;
      else if (line_error) line_errors_q <= line_errors_q + 32'd1;
      if (write && bus_offset == CONTROL_LINE_TIMEOUTS) timeouts_q <= 32'd0;
      else if (timed_out) timeouts_q <= timeouts_q + 32'd1;
      if (write && bus_offset == CONTROL_BUS_ERRORS) bus_errors_q <= 32'd0;
      else if (bus_error) bus_errors_q <= bus_errors_q + 32'd1;
    end
  end

  // Counters of the clocks.
  always_ff @(posedge clk) begin
    if (rst || !run) begin
      cycle_q <= 48'd0;
      latch <= 1'b0;
      pending_q <= 2'b00;
      for (int i = 0; i < 3; i++) cycles_q[i] <= 48'd0;
    end else begin
      cycle_q <= cycle_q + 48'd1;
      if (write && bus_offset == CONTROL_LATCH && pending_q == 2'b00) begin
        latch <= !latch;
        pending_q <= 2'b11;
        cycles_q[0] <= cycle_q;
      end else begin
        pending_q <= pending_q & ~latched_valid;
      end
      if (latched_valid[0]) cycles_q[1] <= latched[47:0];
      if (latched_valid[1]) cycles_q[2] <= latched[95:48];
    end
  end

  always_comb begin
    case (bus_offset)
      CONTROL_IDENTITY: read = BOARD_IDENTITY;
      CONTROL_MAP_VERSION: read = BOARD_MAP_VERSION;
      CONTROL_KIND: read = {7'd0, CORE, NIC, 8'(NODES), TOP};
      CONTROL_SIZES: read = {8'(COMPARATORS), 8'(RING_LOG2), 8'(MEMORY_LOG2), 8'(SRAM_LOG2)};
      CONTROL_HASH0: read = identity.hash[127:96];
      CONTROL_HASH1: read = identity.hash[95:64];
      CONTROL_HASH2: read = identity.hash[63:32];
      CONTROL_HASH3: read = identity.hash[31:0];
      CONTROL_BUS_HZ: read = identity.bus_hz;
      CONTROL_NIC_HZ: read = identity.nic_hz;
      CONTROL_LINK_HZ: read = identity.link_hz;
      CONTROL_BAUD: read = identity.baud;
      CONTROL_TIMEOUT: read = 32'(TIMEOUT);
      CONTROL_SCRATCH: read = scratch_q;
      CONTROL_RESET: read = {31'd0, !run};
      CONTROL_LINE_CHECK: read = line_check;
      CONTROL_REPLY_CHECK: read = reply_check;
      CONTROL_LINE_ERRORS: read = line_errors_q;
      CONTROL_LINE_TIMEOUTS: read = timeouts_q;
      CONTROL_BUS_ERRORS: read = bus_errors_q;
      CONTROL_TRACE_MODE: read = {30'd0, mode_q};
      CONTROL_TRACE_WRITTEN: read = ring_written;
      CONTROL_WAIT_MASK: read = mask_q;
      CONTROL_WAIT_LIMIT: read = limit_q;
      CONTROL_WAIT: read = 32'(hits);
      CONTROL_LATCH: read = {31'd0, pending_q != 2'b00};
      CONTROL_BUS_CYCLE_LOW: read = cycles_q[0][31:0];
      CONTROL_BUS_CYCLE_HIGH: read = {16'd0, cycles_q[0][47:32]};
      CONTROL_NIC_CYCLE_LOW: read = cycles_q[1][31:0];
      CONTROL_NIC_CYCLE_HIGH: read = {16'd0, cycles_q[1][47:32]};
      CONTROL_LINK_CYCLE_LOW: read = cycles_q[2][31:0];
      CONTROL_LINK_CYCLE_HIGH: read = {16'd0, cycles_q[2][47:32]};
      default: read = 32'd0;
    endcase
  end
endmodule
