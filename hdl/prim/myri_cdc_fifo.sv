// FIFO between two clocks: the only place where clock domains meet.
//
// Gray-coded pointers cross through a chain of registers of the other clock. An entry written at a write edge is seen
// by the first read edge strictly after it (where both edges coincide, the old value is sampled), and r_valid rises
// cfg_latency read edges later. Room made by a read returns to the write side in the same way, counted in write edges.
// Full throughput needs a DEPTH_LOG2 that covers this round trip.
//
// Clock gating: r_busy is 1 while a pointer is on its way to the read side or an entry is about to be read. The write
// side needs no edges for room that it cannot use yet: w_busy is 1 while a pointer is on its way there only if the FIFO
// could appear full before it has arrived, that is if at most cfg_latency more entries fit from the view of the write
// side. Both sides are reset together; cfg_latency is static.
module myri_cdc_fifo #(
    parameter int WIDTH = 8,  // bits of an entry
    parameter int DEPTH_LOG2 = 4,  // entries = 2**DEPTH_LOG2, DEPTH_LOG2 1..6
    parameter bit RELATED    = 0   // the two clocks are of one root: latency 0 is allowed, else it is taken as 1
) (
    input logic [3:0] cfg_latency,  // further edges until a change is visible on the other side
    input logic w_clk,  // write clock
    input logic w_rst,  // synchronous reset of the write side
    input logic w_valid,  // an entry is offered
    output logic w_ready,  // there is room (from registers only)
    input logic [WIDTH-1:0] w_data,  // entry
    output logic w_busy,  // write side: 1 = a further edge is needed
    input logic r_clk,  // read clock
    input logic r_rst,  // synchronous reset of the read side
    output logic r_valid,  // an entry can be read (from registers only)
    input logic r_ready,  // it is read at the coming read edge
    output logic [WIDTH-1:0] r_data,  // the oldest entry; meaningless while r_valid = 0
    output logic r_busy  // read side: 1 = a further edge is needed
);
  localparam int PW = DEPTH_LOG2 + 1;
  localparam logic [PW-1:0] FULL = PW'(3 << (PW - 2));

  logic [3:0] latency;
  logic at_once;  // a pointer is seen as soon as it is sampled
  logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];
  logic [PW-1:0] w_bin_q;
  logic [PW-1:0] w_gray_q;
  logic [PW-1:0] w_seen;  // read pointer (Gray) as the write side knows it
  logic [PW-1:0] w_bin_d;
  logic [PW-1:0] r_bin_q;
  logic [PW-1:0] r_gray_q;
  logic [PW-1:0] r_seen;  // write pointer (Gray) as the read side knows it
  logic [PW-1:0] r_bin_d;
  logic w_moving;
  logic r_moving;
  logic r_settling;
  logic [PW-1:0] w_fold_1;  // w_seen on its way from Gray to binary
  logic [PW-1:0] w_fold_2;
  logic [PW-1:0] w_fill;  // entries inside as the write side knows it
  logic crowded;
  logic push;
  logic pop;
  logic [DEPTH_LOG2-1:0] r_next;  // place of the oldest entry after the coming read edge
  logic [WIDTH-1:0] head_q;  // that entry; the output depends on the read clock only

  assign latency = !RELATED && cfg_latency == 4'd0 ? 4'd1 : cfg_latency;
  assign at_once = RELATED && cfg_latency == 4'd0;
  // Full: the two leading Gray bits differ and the rest is equal.
  assign w_ready = w_gray_q != (w_seen ^ FULL);
  assign r_valid = r_gray_q != r_seen;
  assign r_data = head_q;
  assign r_next = pop ? r_bin_d[DEPTH_LOG2-1:0] : r_bin_q[DEPTH_LOG2-1:0];
  assign push = w_valid && w_ready;
  assign pop = r_valid && r_ready;
  // The fill is computed only while a pointer is on its way.
  always_comb begin
    if (push) w_busy = 1'b1;
    else if (w_moving) w_busy = crowded;
    else w_busy = 1'b0;
  end
  assign w_fold_1 = w_seen ^ (w_seen >> 1);
  assign w_fold_2 = w_fold_1 ^ (w_fold_1 >> 2);
  assign w_fill   = w_bin_q - (w_fold_2 ^ (w_fold_2 >> 4));
  assign crowded  = 8'(w_fill) + {4'd0, latency} >= 8'(1 << DEPTH_LOG2);
  assign r_busy   = pop || r_moving;
  assign w_bin_d  = w_bin_q + 1'b1;
  assign r_bin_d  = r_bin_q + 1'b1;

  myri_cdc_pointer #(
      .WIDTH  (PW),
      .RELATED(RELATED)
  ) u_to_read (
      .clk(r_clk),
      .rst(r_rst),
      .cfg_latency(latency),
      .source(w_gray_q),
      .seen(r_seen),
      .settling(r_settling),
      .moving(r_moving)
  );

  myri_cdc_pointer #(
      .WIDTH  (PW),
      .RELATED(RELATED)
  ) u_to_write (
      .clk(w_clk),
      .rst(w_rst),
      .cfg_latency(latency),
      .source(r_gray_q),
      .seen(w_seen),
      .settling(),
      .moving(w_moving)
  );

  always_ff @(posedge w_clk) begin
    if (w_rst) begin
      w_bin_q  <= '0;
      w_gray_q <= '0;
    end else if (push) begin
      w_bin_q  <= w_bin_d;
      w_gray_q <= w_bin_d ^ (w_bin_d >> 1);
    end
  end

  always_ff @(posedge w_clk) if (push) mem[w_bin_q[DEPTH_LOG2-1:0]] <= w_data;

  // An entry that is not visible yet is loaded again when it is. Not at `r_busy`, which depends on a pointer of the other
  // clock.
  always_ff @(posedge r_clk) if (pop || r_settling || at_once) head_q <= mem[r_next];

  always_ff @(posedge r_clk) begin
    if (r_rst) begin
      r_bin_q  <= '0;
      r_gray_q <= '0;
    end else if (pop) begin
      r_bin_q  <= r_bin_d;
      r_gray_q <= r_bin_d ^ (r_bin_d >> 1);
    end
  end
endmodule
