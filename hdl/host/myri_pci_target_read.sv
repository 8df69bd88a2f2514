// Read side of the PCI target: requests lane groups ahead of the bus, holds up to eight answers, keeps one delayed
// read.
// Memory read fetches at most two groups, read line four, read multiple eight ahead, and only while FRAME# promises
// more; what is left at the end of the transaction is dropped, so the window must be free of read side effects.
module myri_pci_target_read
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    input logic claim,  // a memory read is claimed at this edge
    input logic [31:2] claim_addr,  // its address
    input logic [3:0] claim_cmd,  // its command
    input logic more,  // FRAME#: data phases follow
    input logic pop,  // the head group is done
    input logic retry,  // the claimed read was refused: keep it as delayed read
    input logic fin,  // the claimed read ends
    input logic [5:0] bar_size_log2,  // window: no fetch beyond its end
    input  logic [15:0] cfg_discard,    // clocks after which a delayed read gives way to another; 0 = never
    input logic w_pending,  // writes not yet taken by the backend
    output logic tr_valid,  // read request
    input logic tr_ready,  // read request taken
    output logic [31:0] tr_addr,  // 8-byte aligned
    output logic [7:0] tr_bytes,  // hint: bytes wanted from here
    output logic tr_first,  // first request of a read
    input logic td_valid,  // answer
    input logic [63:0] td_data,  // lanes
    output logic have,  // the next clock has a head group (pop of this edge counted)
    output logic refuse,  // with claim: another read is delayed
    output logic [63:0] head,  // head group, zero when there is none
    output logic needed,  // the coming edge changes something, claim and end of a read apart
    output logic busy  // 1 = answers are awaited, or to be asked for
);
  logic [63:0] mem[8];
  logic [2:0] in, out;
  logic [ 3:0] count;  // groups held
  logic [ 3:0] flight;  // requests of this read without an answer (the one in tr_ included)
  logic [ 3:0] drop;  // requests of ended reads without an answer
  logic [ 3:0] ahead;  // groups to hold or await
  logic [31:3] next;  // next group to request
  logic        open;  // this read may request
  logic        need;  // its first request is still to be made
  logic        burst;  // FRAME# when the read was put off
  logic        owned;  // a claimed read is on the bus
  logic        d_valid;  // delayed read
  logic [31:2] c_addr;  // address and command of the read in hand
  logic [ 3:0] c_cmd;
  logic [47:0] d_since;  // when it was put off

  logic match, expired, start, resume_read, arrive, last_group, finish, want_more;
  assign match = d_valid & claim_addr == c_addr & claim_cmd == c_cmd;
  assign expired = cfg_discard != 16'd0 & (cycle - d_since) >= {32'd0, cfg_discard};
  assign refuse = d_valid & ~match & ~expired;
  assign start = claim & ~match & ~refuse;
  assign resume_read = claim & match;
  assign finish = fin & ~retry & owned;
  assign arrive = td_valid & (drop == 4'd0);
  assign last_group = (next | (29'h1FFF_FFFF << (bar_size_log2 - 6'd3))) == '1;
  assign want_more = (owned ? more : burst) & count + flight < ahead;

  assign have = (count + {3'b0, arrive} - {3'b0, pop} != 4'd0) & ~start;
  assign head = (count == 4'd0) ? 64'd0 : mem[out];
  assign needed = (tr_valid & tr_ready) | td_valid | (open & (need | (burst & count + flight < ahead)));
  assign busy = need | (flight != 4'd0) | (drop != 4'd0);

  always_ff @(posedge clk) begin
    if (arrive) mem[in] <= td_data;
    if (rst) begin
      {in, out, count, flight, drop, ahead} <= '0;
      {next, open, need, burst, owned, d_valid, c_addr, c_cmd, d_since} <= '0;
      {tr_valid, tr_addr, tr_bytes, tr_first} <= '0;
    end else begin
      if (tr_ready) tr_valid <= 1'b0;
      if (arrive) in <= in + 3'd1;
      if (pop) out <= out + 3'd1;
      count  <= count + {3'b0, arrive} - {3'b0, pop};
      flight <= flight - {3'b0, arrive};
      if (td_valid && !arrive) drop <= drop - 4'd1;
      if (open && !start && !finish && (need ? !w_pending : want_more) && (!tr_valid || tr_ready)
          && count + flight + drop < 4'd8) begin
        flight <= flight + 4'd1 - {3'b0, arrive};
        tr_valid <= 1'b1;
        tr_addr <= {next, 3'b0};
        tr_bytes <= {1'b0, ahead, 3'b0};
        tr_first <= need;
        need <= 1'b0;
        open <= ~last_group;
        next <= next + 29'd1;
      end
      if (retry && owned) begin
        owned   <= 1'b0;
        d_valid <= 1'b1;
        d_since <= cycle;
        burst   <= more;
      end
      if (resume_read) begin
        owned   <= 1'b1;
        d_valid <= 1'b0;
      end
      if (finish || start) begin
        count <= '0;
        flight <= '0;
        drop <= drop + flight - {3'b0, td_valid};
        in <= '0;
        out <= '0;
        open <= 1'b0;
        need <= 1'b0;
        owned <= 1'b0;
      end
      if (start) begin
        owned <= 1'b1;
        d_valid <= 1'b0;
        c_addr <= claim_addr;
        c_cmd <= claim_cmd;
        next <= claim_addr[31:3];
        ahead <= (claim_cmd == PCI_MEM_READ) ? 4'd2 : (claim_cmd == PCI_MEM_READ_LINE) ? 4'd4 : 4'd8;
        open <= 1'b1;
        need <= 1'b1;
      end
    end
  end
endmodule
