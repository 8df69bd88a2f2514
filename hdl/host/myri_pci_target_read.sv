// Read side of the PCI target: requests lane groups ahead of the bus, holds up to eight answers, and keeps one delayed
// read.
//
// Memory read fetches at most two groups ahead, read line four, read multiple eight, and only while FRAME# announces
// more. Unread groups are dropped at the end of the transaction, so the window must be free of read side effects.
module myri_pci_target_read
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    input logic claim,  // a memory read is claimed at this edge
    input logic [31:2] claim_addr,  // address of the claimed read
    input logic [3:0] claim_cmd,  // command of the claimed read
    input logic more,  // FRAME#: data phases follow
    input logic pop,  // the head group is done
    input logic retry,  // the claimed read got a retry: keep it as delayed read
    input logic fin,  // the claimed read ends
    input logic [5:0] bar_size_log2,  // window: no fetch beyond its end
    input  logic [15:0] cfg_discard,    // clocks after which a delayed read is discarded for another; 0 = never
    input logic w_pending,  // writes not yet accepted by the backend
    output logic tread_valid,  // read request
    input logic tread_ready,  // read request accepted
    output pci_read_t tread,  // the request
    input logic td_valid,  // answer
    input logic [63:0] td_data,  // byte lanes
    output logic have,  // the next clock has a head group (pop of this edge counted)
    output logic refuse,  // with claim: answer with a retry, because another read is delayed
    output logic [63:0] head,  // head group; zero if there is none
    output logic needed,  // 1 = the coming edge changes state, other than claim and end of a read
    output logic busy  // 1 = requests are unanswered or still to be made
);
  logic [63:0] mem[8];
  logic [2:0] in_q, out_q;
  logic [ 3:0] count_q;  // groups held
  logic [ 3:0] flight_q;  // requests of this read without an answer (the one in tr_ included)
  logic [ 3:0] drop_q;  // requests of ended reads without an answer
  logic [ 3:0] ahead_q;  // groups held or awaited
  logic [31:3] next_q;  // next group to request
  logic        open_q;  // this read may request
  logic        need_q;  // its first request is still to be made
  logic        burst_q;  // FRAME# when the read became a delayed read
  logic        owned_q;  // a claimed read is on the bus
  logic        d_valid_q;  // delayed read
  logic [31:2] c_addr_q;  // address and command of the current read
  logic [ 3:0] c_cmd_q;
  logic [47:0] d_since_q;  // when it became a delayed read

  logic match, expired, start, resume_read, arrive, last_group, finish, want_more;
  assign match = d_valid_q & claim_addr == c_addr_q & claim_cmd == c_cmd_q;
  assign expired = cfg_discard != 16'd0 & (cycle - d_since_q) >= {32'd0, cfg_discard};
  assign refuse = d_valid_q & ~match & ~expired;
  assign start = claim & ~match & ~refuse;
  assign resume_read = claim & match;
  assign finish = fin & ~retry & owned_q;
  assign arrive = td_valid & (drop_q == 4'd0);
  assign last_group = (next_q | (29'h1FFF_FFFF << (bar_size_log2 - 6'd3))) == '1;
  assign want_more = (owned_q ? more : burst_q) & count_q + flight_q < ahead_q;

  assign have = (count_q + {3'b0, arrive} - {3'b0, pop} != 4'd0) & ~start;
  assign head = (count_q == 4'd0) ? 64'd0 : mem[out_q];
  assign needed = (tread_valid & tread_ready) | td_valid |
      (open_q & (need_q | (burst_q & count_q + flight_q < ahead_q)));
  assign busy = need_q | (flight_q != 4'd0) | (drop_q != 4'd0);

  always_ff @(posedge clk) begin
    if (arrive) mem[in_q] <= td_data;
    if (rst) begin
      {in_q, out_q, count_q, flight_q, drop_q, ahead_q} <= '0;
      {next_q, open_q, need_q, burst_q, owned_q, d_valid_q, c_addr_q, c_cmd_q, d_since_q} <= '0;
      {tread_valid, tread} <= '0;
    end else begin
      if (tread_ready) tread_valid <= 1'b0;
      if (arrive) in_q <= in_q + 3'd1;
      if (pop) out_q <= out_q + 3'd1;
      count_q  <= count_q + {3'b0, arrive} - {3'b0, pop};
      flight_q <= flight_q - {3'b0, arrive};
      if (td_valid && !arrive) drop_q <= drop_q - 4'd1;
      if (open_q && !start && !finish && (need_q ? !w_pending : want_more) && (!tread_valid || tread_ready)
          && count_q + flight_q + drop_q < 4'd8) begin
        flight_q <= flight_q + 4'd1 - {3'b0, arrive};
        tread_valid <= 1'b1;
        tread.addr <= {next_q, 3'b0};
        tread.bytes <= {1'b0, ahead_q, 3'b0};
        tread.first <= need_q;
        need_q <= 1'b0;
        open_q <= ~last_group;
        next_q <= next_q + 29'd1;
      end
      if (retry && owned_q) begin
        owned_q   <= 1'b0;
        d_valid_q <= 1'b1;
        d_since_q <= cycle;
        burst_q   <= more;
      end
      if (resume_read) begin
        owned_q   <= 1'b1;
        d_valid_q <= 1'b0;
      end
      if (finish || start) begin
        count_q <= '0;
        flight_q <= '0;
        drop_q <= drop_q + flight_q - {3'b0, td_valid};
        in_q <= '0;
        out_q <= '0;
        open_q <= 1'b0;
        need_q <= 1'b0;
        owned_q <= 1'b0;
      end
      if (start) begin
        owned_q <= 1'b1;
        d_valid_q <= 1'b0;
        c_addr_q <= claim_addr;
        c_cmd_q <= claim_cmd;
        next_q <= claim_addr[31:3];
        ahead_q <= (claim_cmd == PCI_MEM_READ) ? 4'd2 : (claim_cmd == PCI_MEM_READ_LINE) ? 4'd4 : 4'd8;
        open_q <= 1'b1;
        need_q <= 1'b1;
      end
    end
  end
endmodule
