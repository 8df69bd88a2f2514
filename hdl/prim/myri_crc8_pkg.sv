// CRC-8 of one more byte: polynomial x^8 + x^2 + x + 1 (0x07), most significant bit first.
//
// Eight shifts by the polynomial are one carry-less multiplication by x^8 = x^2 + x + 1, with the two overflowing bits
// multiplied once more.
package myri_crc8_pkg;
  // Return the CRC register after the byte; 0 after a good packet's CRC byte. `crc`: the register before the byte, 0 at
  // a packet's start.
  function automatic logic [7:0] crc8(input logic [7:0] crc, input logic [7:0] data);
    logic [7:0] x;
    logic [9:0] w;
    x = crc ^ data;
    w = {2'b00, x} ^ {1'b0, x, 1'b0} ^ {x, 2'b00};
    crc8 = w[7:0] ^ {6'd0, w[9:8]} ^ {5'd0, w[9:8], 1'b0} ^ {4'd0, w[9:8], 2'b00};
  endfunction
endpackage
