// Receiving half of LANES link ports: character decoders and slack buffers with STOP and GO marks.
//
// Data characters, and the GAP that ends a packet in progress, enter the slack buffer at the edge that samples them and
// are offered as a packet stream directly after that edge. A GAP outside a packet is ignored. A character that arrives
// while the buffer holds `cfg.slack` entries is lost (ev_overflow), as in hardware; STOP and GO prevent this.
// Clock gating: busy while a wire is not IDLE or a character leaves a buffer.
module myri_link_rx
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_symbol_pkg::*;
#(
    parameter int LANES      = 1,  // ports
    parameter int SLACK_LOG2 = 7   // slack memory entries of a port = 2**SLACK_LOG2, at most 7
) (
    input logic [LANES-1:0] rx_clk,  // character clock of each port, see myri_link_core
    input logic rst,  // synchronous reset
    input logic [9*LANES-1:0] rx,  // {data flag, byte} from the cable
    input link_settings_t cfg,  // configuration of the ports
    output logic [LANES-1:0] m_valid,  // packet stream out of the buffer
    input logic [LANES-1:0] m_ready,  // accepted at the coming edge
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
    output logic [LANES-1:0] rx_needed,  // 1 = the coming edge of rx_clk is needed
    output logic busy  // 1 = a further clock edge is needed
);
  logic [LANES-1:0] live;  // the character on the wire is not IDLE
  logic [LANES-1:0] pop;

  assign pop = m_valid & m_ready;
  assign rx_needed = live | pop;
  assign busy = rx_needed != '0;

  // Control characters are rare, so the lanes are examined only if one has any.
  always_comb begin : controls
    logic [LANES-1:0] stop, go, beat, illegal;
    stop = '0;
    go = '0;
    beat = '0;
    illegal = '0;
    if (EVALUATE_ALWAYS || (live & ~got_data) != '0) begin
      for (int i = 0; i < LANES; i++) begin
        if (!got_data[i]) begin
          case (rx[9*i+:9])
            IDLE, GAP: ;
            GO, GO_DAMAGED: go[i] = 1'b1;
            STOP, STOP_DAMAGED: stop[i] = 1'b1;
            BEAT: beat[i] = 1'b1;
            default: illegal[i] = 1'b1;
          endcase
        end
      end
    end
    got_stop = stop;
    got_go = go;
    got_beat = beat;
    ev_illegal = illegal;
  end

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    logic own_clk;
    assign own_clk = rx_clk[i];
    logic [SLACK_LOG2-1:0] w_ptr_q;  // address of the next character
    logic [SLACK_LOG2-1:0] next_ptr_q;  // address of the character behind the head
    logic [SLACK_LOG2-1:0] third_ptr_q;  // next_ptr_q + 1
    logic [SLACK_LOG2:0] level_q;  // characters held
    logic [8:0] char;
    logic [8:0] head_q;  // the oldest character: a register, since block RAM answers late in a clock
    logic [8:0] second;  // character at next_ptr_q
    logic last;  // the head is the only character
    logic in_packet_q;
    logic arriving;
    logic full;
    logic push;
    logic stop_q;  // in force
    logic filled_q;  // level_q != 0

    assign char = rx[9*i+:9];
    assign live[i] = char != IDLE;
    assign arriving = char[8] || (char == GAP && in_packet_q);
    assign fill[8*i+:8] = 8'(level_q);
    assign full = 8'(level_q) >= cfg.slack || level_q[SLACK_LOG2];
    assign push = arriving && !full;
    assign stopping[i] = stop_q;
    assign got_data[i] = char[8];
    assign ev_overflow[i] = arriving && full;
    assign m_valid[i] = filled_q;
    assign last = w_ptr_q == next_ptr_q;
    assign m_tail[i] = head_q[8];
    assign m_data[8*i+:8] = head_q[7:0];

    always_ff @(posedge own_clk) begin
      if (rst) begin
        w_ptr_q <= '0;
        next_ptr_q <= 1;
        third_ptr_q <= 2;
        level_q <= '0;
        in_packet_q <= 1'b0;
        stop_q <= 1'b0;
        filled_q <= 1'b0;
      end else begin
        if (push) filled_q <= 1'b1;
        else if (pop[i]) filled_q <= !last;
        if (push) begin
          w_ptr_q <= w_ptr_q + 1'b1;
          in_packet_q <= char[8];
          if (!pop[i]) begin
            level_q <= level_q + 1'b1;
            if (8'(level_q) + 8'd1 >= cfg.stop_mark) stop_q <= 1'b1;
          end
        end
        if (pop[i]) begin
          next_ptr_q  <= third_ptr_q;
          third_ptr_q <= third_ptr_q + 1'b1;
          if (!push) begin
            level_q <= level_q - 1'b1;
            if (8'(level_q) <= cfg.go_mark + 8'd1) stop_q <= 1'b0;
          end
        end
      end
    end

    // The memory holds the character after the head ready. Without reset: both are valid only with enough characters.
    always_ff @(posedge own_clk) begin
      if (push && (!filled_q || (pop[i] && last))) head_q <= {!char[8], char[7:0]};
      else if (pop[i] && !last) head_q <= second;
    end
    myri_ram #(
        .WIDTH(9),
        .DEPTH_LOG2(SLACK_LOG2)
    ) u_slack (
        .clk(own_clk),
        .write(push),
        .w_addr(w_ptr_q),
        .w_data({!char[8], char[7:0]}),
        .read(push || pop[i]),
        .r_addr(pop[i] ? third_ptr_q : next_ptr_q),
        .r_data(second)
    );
  end
endmodule
