// Receiving half of LANES link ports: character decoders and slack buffers with STOP/GO marks.
//
// Data characters, and the GAP that ends a packet in progress, enter the slack buffer at the edge
// that samples them and are offered as a packet stream directly after that edge. A GAP outside a
// packet is ignored. A character that finds `cfg.slack` entries is lost (ev_overflow), as in
// hardware: STOP/GO is what prevents it.
// Sleeping: busy while a wire is not IDLE or a character leaves a buffer.
module myri_link_rx
  import myri_settings_pkg::*;
#(
    parameter int LANES      = 1,  // ports
    parameter int SLACK_LOG2 = 7   // slack memory entries of a port = 2**SLACK_LOG2, at most 7
) (
    input logic [LANES-1:0] rx_clk,  // character clock of each port, see myri_link_core
    input logic rst,  // synchronous reset
    input logic [9*LANES-1:0] rx,  // {data flag, byte} from the cable
    input link_settings_t cfg,  // of the ports
    output logic [LANES-1:0] m_valid,  // packet stream out of the buffer
    input logic [LANES-1:0] m_ready,  // taken at the coming edge
    output logic [LANES-1:0] m_tail,  // this beat is the GAP
    output logic [8*LANES-1:0] m_data,  // the byte; meaningless with m_tail
    output logic [LANES-1:0] got_stop,  // combinational: STOP is on the wire
    output logic [LANES-1:0] got_go,  // combinational: GO is on the wire
    output logic [LANES-1:0] got_data,  // combinational: a data character is on the wire
    output logic [LANES-1:0] got_beat,  // combinational: BEAT is on the wire
    output logic [LANES-1:0] stopping,  // STOP is in force at this receiver
    output logic [8*LANES-1:0] fill,  // characters held
    output logic [LANES-1:0] ev_overflow,  // strobe: a character was lost
    output logic [LANES-1:0] ev_illegal,  // strobe: unknown control character, ignored
    output logic [LANES-1:0] rx_needed,  // the coming edge of rx_clk is needed
    output logic busy  // another edge is needed
);
  logic [LANES-1:0] push;
  logic [LANES-1:0] pop;

  assign pop  = m_valid & m_ready;
  assign busy = rx != '0 || pop != '0;

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    logic own_clk;
    assign own_clk = rx_clk[i];
    logic [8:0] mem[0:(1<<SLACK_LOG2)-1];
    logic [SLACK_LOG2:0] w_ptr_q;  // one bit wider than an address: their difference is the fill
    logic [SLACK_LOG2:0] r_ptr_q;
    logic [SLACK_LOG2:0] level;
    logic [8:0] char;
    logic in_packet_q;
    logic is_control;
    logic is_stop, is_go, is_beat, is_gap, is_illegal;
    logic arriving;
    logic full;
    logic stop_q;  // in force

    // Data characters, by far the most frequent, skip the decoding of control characters.
    assign char = rx[9*i+:9];
    assign is_control = !char[8] && char[7:0] != 8'h00;
    always_comb begin
      is_go = 1'b0;
      is_stop = 1'b0;
      is_beat = 1'b0;
      is_gap = 1'b0;
      is_illegal = 1'b0;
      if (is_control) begin
        case (char)
          9'h003, 9'h002: is_go = 1'b1;
          9'h00F, 9'h008: is_stop = 1'b1;
          9'h030: is_beat = 1'b1;
          9'h00C: is_gap = 1'b1;
          default: is_illegal = 1'b1;
        endcase
      end
    end

    assign arriving = char[8] || (is_gap && in_packet_q);
    assign level = w_ptr_q - r_ptr_q;
    assign fill[8*i+:8] = 8'(level);
    assign full = fill[8*i+:8] >= cfg.slack || level[SLACK_LOG2];
    assign push[i] = arriving && !full;
    assign stopping[i] = stop_q;
    assign rx_needed[i] = char != 9'h000 || pop[i];
    assign got_stop[i] = is_stop;
    assign got_go[i] = is_go;
    assign got_data[i] = char[8];
    assign got_beat[i] = is_beat;
    assign ev_illegal[i] = is_illegal;
    assign ev_overflow[i] = arriving && full;
    assign m_valid[i] = w_ptr_q != r_ptr_q;
    assign {m_tail[i], m_data[8*i+:8]} = mem[r_ptr_q[SLACK_LOG2-1:0]];

    always_ff @(posedge own_clk) begin
      if (rst) begin
        w_ptr_q <= '0;
        r_ptr_q <= '0;
        in_packet_q <= 1'b0;
        stop_q <= 1'b0;
      end else begin
        if (push[i]) begin
          w_ptr_q <= w_ptr_q + 1'b1;
          in_packet_q <= char[8];
          if (!pop[i] && fill[8*i+:8] + 8'd1 >= cfg.stop_mark) stop_q <= 1'b1;
        end
        if (pop[i]) begin
          r_ptr_q <= r_ptr_q + 1'b1;
          if (!push[i] && fill[8*i+:8] <= cfg.go_mark + 8'd1) stop_q <= 1'b0;
        end
      end
    end

    always_ff @(posedge own_clk) begin
      if (push[i]) mem[w_ptr_q[SLACK_LOG2-1:0]] <= {!char[8], char[7:0]};
    end
  end
endmodule
