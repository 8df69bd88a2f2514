// Reads a message out of a bank, a word a user clock, and a word ahead of the one that takes it.
//
// A synchronous SRAM gives its word in the clock after the address. So the next address leaves in the clock in which a
// word is taken; a word that is not taken is kept, and no address leaves meanwhile.
// Timing: the first word two user clocks after `open`, then one in each clock in which one is taken. Nothing moves
// without `ce`.
module myri_card_reader (
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    input logic ce,  // clock enable of the user clock
    input logic open,  // a message is read; while 0 the next one begins at its first word
    input logic [23:0] front,  // byte offset of the message in its bank
    input logic [16:0] upto,  // words of it to read; may grow while it is open
    output logic valid,  // the next word
    input logic ready,  // taken
    output logic [31:0] data,  // it, as it stands in the bank
    output logic mem_read,  // read of the bank
    output logic [18:0] mem_addr,  // word
    input logic [31:0] mem_rdata  // data, from the clock after on until the next read
);
  logic due, kept;
  logic [31:0] word;
  logic [16:0] asked;

  assign valid = due || kept;
  assign data = kept ? word : mem_rdata;
  assign mem_read = ce && open && asked != upto && (!valid || ready);
  assign mem_addr = front[20:2] + {2'd0, asked};

  always_ff @(posedge clk) begin
    if (rst || !open) begin
      due   <= 1'b0;
      kept  <= 1'b0;
      asked <= '0;
    end else if (ce) begin
      due  <= mem_read;
      kept <= valid && !ready;
      if (mem_read) asked <= asked + 17'd1;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) word <= '0;
    else if (ce && due && !ready) word <= mem_rdata;
  end

  logic unused;
  assign unused = &{1'b0, front[23:21], front[1:0]};
endmodule
