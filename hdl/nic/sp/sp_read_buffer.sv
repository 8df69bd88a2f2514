// Read buffer of the SP adapter: words of host memory that a READ has fetched for the processor.
//
// Timing: one word per clock; read in the same clock. Clock gating: state changes with its inputs, whose source is then
// busy.
module sp_read_buffer
  import sp_adapter_pkg::*;
(
    input  logic        clk,      // NIC clock
    input  logic        rst,      // synchronous reset
    input  logic        start,    // strobe: a READ begins
    input  logic        w_valid,  // a word arrives
    input  logic [63:0] w_data,   // lanes, packed from lane 0
    input  logic [ 4:0] index,    // index of the 32-bit word to read
    output logic [31:0] word      // the word, big-endian, in the same clock
);
  localparam int WORDS = SIZE_READ / 8;
  logic [63:0] words[0:WORDS-1];
  logic [WORDS-1:0] known_q;  // words written since reset; the others are 0
  logic [$clog2(WORDS)-1:0] place_q;
  logic [63:0] shown;
  logic [31:0] half;

  assign shown = known_q[index[4:1]] ? words[index[4:1]] : 64'd0;
  assign half  = index[0] ? shown[63:32] : shown[31:0];
  assign word  = {half[7:0], half[15:8], half[23:16], half[31:24]};

  always_ff @(posedge clk) begin
    if (rst || start) place_q <= '0;
    else if (w_valid) place_q <= place_q + 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst) known_q <= '0;
    else if (w_valid) known_q[place_q] <= 1'b1;
  end

  always_ff @(posedge clk) if (w_valid) words[place_q] <= w_data;
endmodule
