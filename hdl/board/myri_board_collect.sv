// Collector of trace events of one clock: keeps one event of each source until it is taken, and gives it the cycle and
// the number of lost events.
//
// Timing: an event is registered first, since strobes end long paths, and is offered from the second clock after its
// strobe. A strobe of a source whose last event still waits is lost and counted in the next record of that source.
module myri_board_collect
  import myri_board_pkg::*;
#(
    parameter int SOURCES = 8,  // number of sources
    parameter logic [1:0] CLOCK = CLOCK_NIC  // number of this clock in records
) (
    input logic clk,  // clock of the sources
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic [SOURCES-1:0] strobe,  // an event of each source
    input logic [EVENT_BITS*SOURCES-1:0] events,  // board_event_t of each source, source 0 lowest
    output logic out_valid,  // a record is offered
    input logic out_ready,  // taken at the coming edge
    output board_record_t out_record  // the record
);
  logic [SOURCES-1:0] strobe_q;  // `strobe` at the last edge
  logic [47:0] cycle_q;  // index of that edge
  logic [SOURCES-1:0] held_q;  // sources with a waiting event
  logic [SOURCES-1:0] pick;  // one of them
  logic [RECORD_BITS*SOURCES-1:0] waiting;  // record of each source

  assign out_valid = held_q != '0;

  myri_rr_arbiter #(
      .N(SOURCES)
  ) u_arbiter (
      .clk(clk),
      .rst(rst),
      .request(held_q),
      .take(out_ready),
      .grant(pick)
  );

  always_ff @(posedge clk) begin
    if (rst) strobe_q <= '0;
    else strobe_q <= strobe;
    cycle_q <= cycle;
  end

  for (genvar i = 0; i < SOURCES; i++) begin : gen_source
    board_event_t event_q;
    board_record_t record_q;
    logic [7:0] lost_q;
    logic free;  // a new event finds room
    assign free = !held_q[i] || (pick[i] && out_ready);
    assign waiting[RECORD_BITS*i+:RECORD_BITS] = pick[i] ? record_q : '0;

    always_ff @(posedge clk) event_q <= events[EVENT_BITS*i+:EVENT_BITS];

    always_ff @(posedge clk) begin
      if (rst) begin
        held_q[i] <= 1'b0;
        lost_q <= 8'd0;
      end else if (free) begin
        held_q[i] <= strobe_q[i];
        if (strobe_q[i]) lost_q <= 8'd0;
      end else if (strobe_q[i] && lost_q != 8'hFF) begin
        lost_q <= lost_q + 8'd1;
      end
    end

    always_ff @(posedge clk) begin
      if (strobe_q[i] && free) begin
        record_q.cycle <= cycle_q - {16'd0, event_q.ago};
        record_q.clock <= CLOCK;
        record_q.lost <= lost_q;
        record_q.code <= event_q.code;
        record_q.unit <= event_q.unit;
        record_q.packet <= event_q.packet;
        record_q.argument <= event_q.argument;
        record_q.argument2 <= event_q.argument2;
      end
    end
  end

  always_comb begin
    out_record = '0;
    for (int i = 0; i < SOURCES; i++) out_record = out_record | waiting[RECORD_BITS*i+:RECORD_BITS];
  end
endmodule
