// Write-combining buffer of the host bridge: one line fills while the previous line drains.
//
// A full line drains by itself; a partial line drains while `flush` is held. Adjacent bytes form one burst; a gap
// starts another.
// Timing: a store is merged in its clock. A line can start to drain one clock after it has filled, one lane group per
// clock.
module myri_host_combine (
    input  logic        clk,           // PCI clock
    input  logic        rst,           // synchronous, active high
    input  logic [ 6:0] cfg_wc_bytes,  // line: 8, 16, 32 or 64 bytes
    input  logic        store,         // merge this store (only while fits)
    input  logic [31:0] addr,          // 8-byte aligned
    input  logic [63:0] data,          // byte lanes
    input  logic [ 7:0] be,            // bytes stored
    output logic        fits,          // a store to addr can be merged now
    input  logic        flush,         // send the line being filled
    output logic        empty,         // nothing held
    input  logic        c_ready,       // a command can be accepted
    output logic        c_valid,       // command offered (sent with c_ready)
    output logic [31:0] c_addr,        // byte address of the command
    output logic [ 6:0] c_bytes,       // number of bytes
    output logic        d_valid,       // data beat offered
    output logic [63:0] d_data,        // byte lanes
    output logic        needed         // 1 = the coming edge changes state
);
  logic [63:0] mem                         [16];  // two lines of up to eight lane groups
  logic        sel_q;  // line being filled
  logic [31:6] line_q, drain_line_q;  // 64-byte block of each line
  logic [63:0] mask_q, drain_q;  // bytes held in each line
  logic       middle_q;  // a burst is being sent, beyond its first group
  logic [2:0] group_q;  // its next group

  // ---- filling ----
  logic [2:0] in_line;  // lane groups of one line - 1
  logic same, swap, fills;
  logic [63:0] stored, mask_d, line_mask, base_mask;
  logic [63:0] bits, old, merged;
  assign in_line = cfg_wc_bytes[6:4] == 3'd0 ? 3'd0 : {cfg_wc_bytes[6], |cfg_wc_bytes[6:5], 1'b1};
  assign stored  = {56'd0, be} << {addr[5:3], 3'b0};
  always_comb begin
    case (in_line)
      3'd0: base_mask = 64'h0000_0000_0000_00FF;
      3'd1: base_mask = 64'h0000_0000_0000_FFFF;
      3'd3: base_mask = 64'h0000_0000_FFFF_FFFF;
      default: base_mask = '1;
    endcase
  end
  assign line_mask = base_mask << {addr[5:3] & ~in_line, 3'b0};
  assign same = line_q == addr[31:6] & (mask_q & ~line_mask) == '0;
  assign fits = (mask_q == '0) | same;
  assign mask_d = store ? mask_q | stored : mask_q;
  assign fills = store & (mask_d & line_mask) == line_mask;
  // A line that became full while the other line was draining drains as soon as the other is done.
  logic held_full_q;
  assign swap = (drain_q == '0) & (fills | held_full_q | (flush & mask_q != '0));
  assign bits = {
    {8{be[7]}}, {8{be[6]}}, {8{be[5]}}, {8{be[4]}}, {8{be[3]}}, {8{be[2]}}, {8{be[1]}}, {8{be[0]}}
  };
  assign old = mem[{sel_q, addr[5:3]}];
  assign merged = ((8'(mask_q >> {addr[5:3], 3'b0}) == 8'd0) ? 64'd0 : old & ~bits) | (data & bits);

  // ---- draining: the lowest run of bytes ----
  logic [63:0] run, low, top;  // its bytes; its first and its last byte, one-hot
  logic [5:0] first, last;
  logic leave, done;
  assign low = drain_q & (~drain_q + 64'd1);
  assign run = drain_q & ~(drain_q + low);
  assign top = run & ~(run >> 1);
  assign first = {
    |(low & 64'hFFFF_FFFF_0000_0000),
    |(low & 64'hFFFF_0000_FFFF_0000),
    |(low & 64'hFF00_FF00_FF00_FF00),
    |(low & 64'hF0F0_F0F0_F0F0_F0F0),
    |(low & 64'hCCCC_CCCC_CCCC_CCCC),
    |(low & 64'hAAAA_AAAA_AAAA_AAAA)
  };
  assign last = {
    |(top & 64'hFFFF_FFFF_0000_0000),
    |(top & 64'hFFFF_0000_FFFF_0000),
    |(top & 64'hFF00_FF00_FF00_FF00),
    |(top & 64'hF0F0_F0F0_F0F0_F0F0),
    |(top & 64'hCCCC_CCCC_CCCC_CCCC),
    |(top & 64'hAAAA_AAAA_AAAA_AAAA)
  };
  assign c_valid = drain_q != '0 & ~middle_q;
  assign c_addr = {drain_line_q, first};
  assign c_bytes = {1'b0, last} - {1'b0, first} + 7'd1;
  assign leave = (c_valid & c_ready) | middle_q;
  assign d_valid = leave;
  assign d_data = mem[{~sel_q, middle_q?group_q : first[5:3]}];
  assign done = leave & (middle_q ? group_q : first[5:3]) == last[5:3];

  assign empty = mask_q == '0 & drain_q == '0;
  assign needed = store | leave | swap;

  always_ff @(posedge clk) begin
    if (store) mem[{sel_q, addr[5:3]}] <= merged;
    if (rst) begin
      {sel_q, middle_q, group_q, held_full_q} <= '0;
      {line_q, drain_line_q, mask_q, drain_q} <= '0;
    end else begin
      mask_q <= swap ? '0 : mask_d;
      held_full_q <= (fills | held_full_q) & ~swap;
      if (store) line_q <= addr[31:6];
      if (leave) begin
        middle_q <= ~done;
        group_q  <= (middle_q ? group_q : first[5:3]) + 3'd1;
      end
      if (done) drain_q <= drain_q & ~run;
      if (swap) begin
        drain_q <= mask_d;
        drain_line_q <= store ? addr[31:6] : line_q;
        sel_q <= ~sel_q;
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, addr[2:0], cfg_wc_bytes[3:0]};
endmodule
