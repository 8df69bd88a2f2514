// Synchronous first-word-fall-through FIFO.
//
// Timing: an entry accepted at one edge is visible on the read side directly after that edge; one entry in and one out
// at every edge, also while a full FIFO is drained. Up to 64 entries are in LUT RAM; more are in block RAM, whose word
// is registered, so the oldest entry is read an edge ahead.
// Clock gating: state changes only with a handshake, so `busy` is the handshake itself.
module myri_fifo #(
    parameter int WIDTH      = 8,  // bits of an entry
    parameter int DEPTH_LOG2 = 4   // entries = 2**DEPTH_LOG2
) (
    input  logic                clk,      // clock
    input  logic                rst,      // synchronous reset, empties the FIFO
    input  logic                w_valid,  // an entry is offered
    output logic                w_ready,  // there is room (from registers only)
    input  logic [   WIDTH-1:0] w_data,   // entry
    output logic                r_valid,  // an entry can be read
    input  logic                r_ready,  // it is read at the coming edge
    output logic [   WIDTH-1:0] r_data,   // the oldest entry; meaningless while r_valid = 0
    output logic [DEPTH_LOG2:0] level,    // entries held, 0 .. 2**DEPTH_LOG2
    output logic                busy      // 1 = a further clock edge is needed
);
  logic [DEPTH_LOG2-1:0] w_ptr_q;
  logic [DEPTH_LOG2-1:0] r_ptr_q;
  logic                  push;
  logic                  pop;

  assign w_ready = !level[DEPTH_LOG2];
  assign r_valid = level != '0;
  assign push    = w_valid && w_ready;
  assign pop     = r_valid && r_ready;
  assign busy    = push || pop;

  always_ff @(posedge clk) begin
    if (rst) begin
      w_ptr_q <= '0;
      r_ptr_q <= '0;
      level   <= '0;
    end else begin
      if (push) w_ptr_q <= w_ptr_q + 1'b1;
      if (pop) r_ptr_q <= r_ptr_q + 1'b1;
      if (push && !pop) level <= level + 1'b1;
      else if (pop && !push) level <= level - 1'b1;
    end
  end

  if (DEPTH_LOG2 <= 6) begin : gen_shallow
    logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];
    assign r_data = mem[r_ptr_q];
    always_ff @(posedge clk) if (push) mem[w_ptr_q] <= w_data;
  end else begin : gen_deep
    myri_ram #(
        .WIDTH(WIDTH),
        .DEPTH_LOG2(DEPTH_LOG2)
    ) u_ram (
        .clk(clk),
        .write(push),
        .w_addr(w_ptr_q),
        .w_data(w_data),
        .read(busy),
        .r_addr(r_ptr_q + DEPTH_LOG2'(pop)),
        .r_data(r_data)
    );
  end
endmodule
