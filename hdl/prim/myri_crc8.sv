// CRC-8 of one more byte: polynomial x^8 + x^2 + x + 1 (0x07), most significant bit first.
//
// Eight shifts by the polynomial are one multiplication by x^8 = x^2 + x + 1 (carry-less), with
// the two bits that overflow multiplied once more. Timing: combinational.
module myri_crc8 (
    input  logic [7:0] crc,   // register before the byte (0 at the start of a packet)
    input  logic [7:0] data,  // the byte
    output logic [7:0] next   // register after the byte; 0 after a good packet's CRC byte
);
  logic [7:0] x;
  logic [9:0] w;

  assign x = crc ^ data;
  assign w = {2'b00, x} ^ {1'b0, x, 1'b0} ^ {x, 2'b00};
  assign next = w[7:0] ^ {6'd0, w[9:8]} ^ {5'd0, w[9:8], 1'b0} ^ {4'd0, w[9:8], 2'b00};
endmodule
