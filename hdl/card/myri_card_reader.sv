// Reader of a message in a bank: one word per user clock, one word ahead of the consumer.
//
// A synchronous SRAM returns a word one clock after the address. The next address is therefore sent in the clock in
// which a word is accepted. A word that is not accepted is kept, and no address is sent meanwhile.
// Timing: the first word is available two user clocks after `open`, then one per accepted word. No register changes
// without `ce`.
module myri_card_reader (
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    input logic ce,  // clock enable of the user clock
    input logic open,  // 1 = a message is read; 0 restarts at the first word of the next message
    input logic [23:0] front,  // byte offset of the message in its bank
    input logic [16:0] upto,  // words to read; may grow while `open` is 1
    output logic valid,  // the next word
    input logic ready,  // accepted
    output logic [31:0] data,  // the word as stored in the bank
    input logic halt,  // 1 = the bank may not be read
    output logic mem_read,  // read of the bank
    output logic [18:0] mem_addr,  // word
    input logic [31:0] mem_rdata  // data, from the next clock until the next read
);
  logic due_q, kept_q;
  logic [31:0] word_q;
  logic [16:0] asked_q;

  assign valid = due_q || kept_q;
  assign data = kept_q ? word_q : mem_rdata;
  assign mem_read = ce && open && !halt && asked_q != upto && (!valid || ready);
  assign mem_addr = front[20:2] + {2'd0, asked_q};

  always_ff @(posedge clk) begin
    if (rst || !open) begin
      due_q   <= 1'b0;
      kept_q  <= 1'b0;
      asked_q <= '0;
    end else if (ce) begin
      due_q  <= mem_read;
      kept_q <= valid && !ready;
      if (mem_read) asked_q <= asked_q + 17'd1;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) word_q <= '0;
    else if (ce && due_q && !ready) word_q <= mem_rdata;
  end

  logic unused;
  assign unused = &{1'b0, front[23:21], front[1:0]};
endmodule
