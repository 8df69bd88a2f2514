// Read buffer of the SP adapter: words of host memory that a READ has brought for the processor.
//
// Timing: a word a clock; read at once. Sleeping: state moves with its inputs, whose unit is awake then.
module sp_read_buffer
  import sp_adapter_pkg::*;
(
    input  logic        clk,      // NIC clock
    input  logic        rst,      // synchronous reset
    input  logic        start,    // strobe: a READ begins
    input  logic        w_valid,  // a word comes
    input  logic [63:0] w_data,   // lanes, packed from lane 0
    input  logic [ 4:0] index,    // 32-bit word that is read
    output logic [31:0] word      // it, big-endian, the same clock
);
  localparam int WORDS = SIZE_READ / 8;
  logic [63:0] words[0:WORDS-1];
  logic [$clog2(WORDS)-1:0] place_q;
  logic [63:0] shown;
  logic [31:0] half;

  assign shown = words[index[4:1]];
  assign half  = index[0] ? shown[63:32] : shown[31:0];
  assign word  = {half[7:0], half[15:8], half[23:16], half[31:24]};

  always_ff @(posedge clk) begin
    if (rst || start) place_q <= '0;
    else if (w_valid) place_q <= place_q + 1'b1;
  end

  for (genvar k = 0; k < WORDS; k++) begin : gen_word
    always_ff @(posedge clk) begin
      if (rst) words[k] <= 64'd0;
      else if (w_valid && place_q == k[$clog2(WORDS)-1:0]) words[k] <= w_data;
    end
  end
endmodule
