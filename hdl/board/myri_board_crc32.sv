// Step of CRC-32 by one byte (IEEE 802.3, as zlib computes it): polynomial 04C11DB7 reflected, initial value and final
// inversion all ones. Combinational.
module myri_board_crc32 (
    input  logic [31:0] crc,   // CRC before the byte, not inverted
    input  logic [ 7:0] data,  // the byte
    output logic [31:0] next   // CRC after it, not inverted
);
  localparam logic [31:0] POLYNOMIAL = 32'hEDB8_8320;

  always_comb begin
    next = crc ^ {24'd0, data};
    for (int i = 0; i < 8; i++) next = next[0] ? (next >> 1) ^ POLYNOMIAL : next >> 1;
  end
endmodule
