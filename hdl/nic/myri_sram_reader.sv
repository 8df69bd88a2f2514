// Reads consecutive 64-bit words of SRAM as a stream.
//
// Timing: first request in the clock after `start`, one word a clock while granted and taken; at most
// one word waits, so nothing is read that has no place. Sleeping: `busy` while it asks or moves.
module myri_sram_reader (
    input  logic        clk,          // NIC clock
    input  logic        rst,          // synchronous reset
    input  logic        start,        // strobe: read `count` words from `addr` (only when idle)
    input  logic [19:0] addr,         // word address (byte address / 8)
    input  logic [29:0] count,        // words, not 0
    output logic        sram_req,     // read request
    input  logic        sram_gnt,     // granted
    output logic [22:0] sram_addr,    // byte address, multiple of 8
    input  logic        sram_rvalid,  // read data valid
    input  logic [63:0] sram_rdata,   // read data
    output logic        out_valid,    // a word is there
    input  logic        out_ready,    // taken at the coming edge
    output logic [63:0] out_data,     // the word
    output logic        busy          // another edge is needed
);
  logic [19:0] next;
  logic [29:0] left;
  logic        held;
  logic [63:0] word;

  assign sram_req = left != 30'd0 && !held && !(sram_rvalid && !out_ready);
  assign sram_addr = {next, 3'b000};
  assign out_valid = sram_rvalid || held;
  assign out_data = held ? word : sram_rdata;
  assign busy = start || sram_req || sram_rvalid || (held && out_ready);

  always_ff @(posedge clk) begin
    if (rst) begin
      next <= 20'd0;
      left <= 30'd0;
      held <= 1'b0;
      word <= 64'd0;
    end else begin
      held <= out_valid && !out_ready;
      if (sram_rvalid && !out_ready) word <= sram_rdata;
      if (start) begin
        next <= addr;
        left <= count;
      end else if (sram_req && sram_gnt) begin
        next <= next + 20'd1;
        left <= left - 30'd1;
      end
    end
  end
endmodule
