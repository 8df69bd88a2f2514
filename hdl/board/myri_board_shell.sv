// Shell of a board: serial port, bridge, registers, trace ring, and the decoder of the address map.
//
// The nodes have one access port each, with common address and data. Timing: see the parts. An access outside the map, or
// one that a node does not answer, reads BOARD_UNANSWERED and is counted.
module myri_board_shell
  import myri_board_pkg::*;
#(
    parameter logic [7:0] TOP = TOP_PAIR,  // TOP_*
    parameter int NODES = 2,  // nodes, 1 to MAX_NODES
    parameter int TRACES = 5,  // sources of trace records
    parameter bit CORE = 1'b1,  // the NICs have processors
    parameter int SRAM_LOG2 = 16,  // bytes of SRAM
    parameter int MEMORY_LOG2 = 16,  // bytes of host memory
    parameter int RING_LOG2 = 10,  // records of the trace ring
    parameter int DIVISOR = 25,  // bus clocks of a bit on the serial line
    parameter int TIMEOUT = 2500000  // inactivity time-out of the bridge, bus clocks
) (
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset
    input logic rxd,  // serial line from the host
    output logic txd,  // serial line to the host
    input board_identity_t identity,  // hash and frequencies; static
    output logic run,  // 0 = nodes and switches are held in reset
    output logic [NODES-1:0] node_valid,  // access of a node, until its node_ready
    input logic [NODES-1:0] node_ready,  // it ends in this clock
    output logic bus_write,  // 1 = write
    output logic [31:0] bus_addr,  // byte address
    output logic [31:0] bus_wdata,  // write data
    input logic [32*NODES-1:0] node_rdata,  // read data, with node_ready
    input logic [NODES-1:0] node_error,  // not answered, with node_ready
    input logic [COMPARATORS*NODES-1:0] nic_hits,  // registers of the NIC clock: comparators that have matched
    input logic [TRACES-1:0] record_valid,  // trace records
    output logic [TRACES-1:0] record_ready,  // taken at the coming edge
    input logic [RECORD_BITS*TRACES-1:0] records,  // board_record_t of each source
    output logic latch,  // each change latches the counters of the other clocks
    input logic [1:0] latched_valid,  // a latched value arrives: NIC, link
    input logic [95:0] latched  // the values, NIC lowest
);
  localparam int HITS = COMPARATORS * NODES;

  logic in_valid, in_error, out_valid, out_ready;
  logic [7:0] in_data, out_data;
  logic bus_valid, bus_ready, restart, ev_overrun, ev_timeout, unanswered;
  logic [31:0] bus_rdata, line_check, reply_check;
  logic control_valid, control_ready, trace_valid, trace_ready_q, none_valid;
  logic [31:0] control_rdata, trace_rdata, written, answer;
  logic ring_clear, ring_record, ring_stop;
  logic [HITS-1:0] hits;
  logic [TRACES-1:0] pick;
  logic [RECORD_BITS*TRACES-1:0] chosen;  // record of the picked source, the others 0
  board_record_t picked;
  logic of_node, failed;

  // Decoder.
  assign of_node = bus_addr[31:28] == REGION_NIC || bus_addr[31:28] == REGION_MEMORY || bus_addr[31:28] == REGION_NODE;
  assign control_valid = bus_valid && bus_addr[31:28] == REGION_CONTROL && bus_addr[27:12] == 16'd0;
  assign trace_valid = bus_valid && bus_addr[31:28] == REGION_TRACE && bus_addr[27:RING_LOG2+5] == '0;
  assign none_valid = bus_valid && !control_valid && !trace_valid && node_valid == '0;
  assign failed = none_valid || (node_ready & node_error) != '0;
  assign bus_ready = control_ready || trace_ready_q || none_valid || node_ready != '0;
  assign bus_rdata = failed ? BOARD_UNANSWERED : answer;
  assign unanswered = bus_valid && bus_ready && failed;
  always_comb begin
    answer = control_ready ? control_rdata : trace_rdata;
    for (int n = 0; n < NODES; n++) begin
      node_valid[n] = bus_valid && of_node && bus_addr[27:24] == 4'(n);
      if (node_ready[n]) answer = node_rdata[32*n+:32];
    end
  end
  always_ff @(posedge bus_clk) trace_ready_q <= trace_valid && !trace_ready_q && !bus_rst;

  // Trace: one record a clock. Records of a node that is held in reset are stale.
  assign record_ready = run ? pick : '0;
  for (genvar i = 0; i < TRACES; i++) begin : gen_trace
    assign chosen[RECORD_BITS*i+:RECORD_BITS] = pick[i] ? records[RECORD_BITS*i+:RECORD_BITS] : '0;
  end
  always_comb begin
    picked = '0;
    for (int i = 0; i < TRACES; i++) picked = picked | chosen[RECORD_BITS*i+:RECORD_BITS];
  end

  for (genvar i = 0; i < HITS; i++) begin : gen_hit
    myri_board_level u_hit (
        .clk(bus_clk),
        .rst(bus_rst),
        .d  (nic_hits[i]),
        .q  (hits[i])
    );
  end
  myri_rr_arbiter #(
      .N(TRACES)
  ) u_trace_arbiter (
      .clk(bus_clk),
      .rst(bus_rst),
      .request(record_valid),
      .take(run),
      .grant(pick)
  );
  myri_board_ring #(
      .RING_LOG2(RING_LOG2)
  ) u_ring (
      .clk(bus_clk),
      .rst(bus_rst),
      .clear(ring_clear),
      .record(ring_record),
      .stop(ring_stop),
      .in_valid(run && pick != '0),
      .in_record(picked),
      .read_row(bus_addr[5+:RING_LOG2]),
      .read_word(bus_addr[4:2]),
      .read_data(trace_rdata),
      .written(written)
  );
  myri_board_uart #(
      .DIVISOR(DIVISOR)
  ) u_uart (
      .clk(bus_clk),
      .rst(bus_rst),
      .rxd(rxd),
      .txd(txd),
      .in_valid(in_valid),
      .in_data(in_data),
      .in_error(in_error),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
  myri_board_bridge #(
      .TIMEOUT(TIMEOUT)
  ) u_bridge (
      .clk(bus_clk),
      .rst(bus_rst),
      .in_valid(in_valid),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data),
      .bus_valid(bus_valid),
      .bus_write(bus_write),
      .bus_addr(bus_addr),
      .bus_wdata(bus_wdata),
      .bus_ready(bus_ready),
      .bus_rdata(bus_rdata),
      .restart(restart),
      .line_check(line_check),
      .reply_check(reply_check),
      .ev_overrun(ev_overrun),
      .ev_timeout(ev_timeout)
  );
  myri_board_control #(
      .TOP(TOP),
      .NODES(NODES),
      .CORE(CORE),
      .SRAM_LOG2(SRAM_LOG2),
      .MEMORY_LOG2(MEMORY_LOG2),
      .RING_LOG2(RING_LOG2),
      .TIMEOUT(TIMEOUT)
  ) u_control (
      .clk(bus_clk),
      .rst(bus_rst),
      .identity(identity),
      .bus_valid(control_valid),
      .bus_ready(control_ready),
      .bus_write(bus_write),
      .bus_offset(bus_addr[11:0]),
      .bus_wdata(bus_wdata),
      .bus_rdata(control_rdata),
      .run(run),
      .line_check(line_check),
      .reply_check(reply_check),
      .restart(restart),
      .line_error(in_error || ev_overrun),
      .timed_out(ev_timeout),
      .bus_error(unanswered),
      .ring_clear(ring_clear),
      .ring_record(ring_record),
      .ring_stop(ring_stop),
      .ring_written(written),
      .hits(hits),
      .latch(latch),
      .latched_valid(latched_valid),
      .latched(latched)
  );
endmodule
