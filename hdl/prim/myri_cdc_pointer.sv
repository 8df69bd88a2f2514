// Synchroniser chain for a Gray-coded pointer of another clock (part of myri_cdc_fifo).
//
// Timing: a new `source` reaches `seen` cfg_latency edges after the first edge of clk that samples it. Only u_sync samples
// `source`: a second register that depends on it, an enable of the chain for one, may see another value at the same edge,
// and a change would be lost. Clock gating: while `moving` is 0 the chain is settled and edges may be skipped. `moving`
// compares with `source` itself, so it is for a simulator that skips edges and not for logic.
module myri_cdc_pointer #(
    parameter int WIDTH   = 5,  // bits of the pointer
    parameter bit RELATED = 0   // the two clocks are of one root: latency 0 is allowed
) (
    input logic clk,  // clock of the receiving side
    input logic rst,  // synchronous reset of that side
    input  logic [      3:0] cfg_latency,  // further edges after the first, 1..15, with RELATED 0..15; static
    input logic [WIDTH-1:0] source,  // pointer in the other clock, one bit changes a step
    output logic [WIDTH-1:0] seen,  // pointer as known here
    output logic settling,  // the coming edge changes the chain behind u_sync; from registers of clk
    output logic moving  // the chain is not settled
);
  logic [WIDTH-1:0] first;
  logic [14*WIDTH-1:0] chain_q;  // first, 1 to 14 edges later
  logic [WIDTH-1:0] last_q;  // last register of the chain in use
  logic [3:0] settle_q;  // edges until the registers in use are equal again
  logic fresh;  // u_sync is about to change
  logic behind;  // the register after it is about to change

  assign fresh = source != first;
  assign behind = cfg_latency != 4'd0 && first != chain_q[WIDTH-1:0];
  assign settling = behind || settle_q != 4'd0;
  assign moving = fresh || settling;
  if (RELATED) begin : gen_related
    assign seen = cfg_latency == 4'd0 ? first : last_q;
  end else begin : gen_unrelated
    assign seen = last_q;
  end

  myri_sync #(
      .WIDTH(WIDTH)
  ) u_sync (
      .clk(clk),
      .rst(rst),
      .d  (source),
      .q  (first)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      chain_q  <= '0;
      last_q   <= '0;
      settle_q <= 4'd0;
    end else if (settling) begin
      chain_q <= {chain_q[13*WIDTH-1:0], first};
      case (cfg_latency)
        4'd2: last_q <= chain_q[0*WIDTH+:WIDTH];
        4'd3: last_q <= chain_q[1*WIDTH+:WIDTH];
        4'd4: last_q <= chain_q[2*WIDTH+:WIDTH];
        4'd5: last_q <= chain_q[3*WIDTH+:WIDTH];
        4'd6: last_q <= chain_q[4*WIDTH+:WIDTH];
        4'd7: last_q <= chain_q[5*WIDTH+:WIDTH];
        4'd8: last_q <= chain_q[6*WIDTH+:WIDTH];
        4'd9: last_q <= chain_q[7*WIDTH+:WIDTH];
        4'd10: last_q <= chain_q[8*WIDTH+:WIDTH];
        4'd11: last_q <= chain_q[9*WIDTH+:WIDTH];
        4'd12: last_q <= chain_q[10*WIDTH+:WIDTH];
        4'd13: last_q <= chain_q[11*WIDTH+:WIDTH];
        4'd14: last_q <= chain_q[12*WIDTH+:WIDTH];
        4'd15: last_q <= chain_q[13*WIDTH+:WIDTH];
        default: last_q <= first;
      endcase
      if (behind) settle_q <= cfg_latency - 4'd1;
      else settle_q <= settle_q - 4'd1;
    end
  end
endmodule
