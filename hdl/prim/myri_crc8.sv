// CRC-8 of one more byte (myri_crc8_pkg).
//
// Timing: combinational.
module myri_crc8 (
    input  logic [7:0] crc,   // register before the byte (0 at the start of a packet)
    input  logic [7:0] data,  // byte
    output logic [7:0] next   // register after the byte; 0 after a good packet's CRC byte
);
  assign next = myri_crc8_pkg::crc8(crc, data);
endmodule
