// Header error check (HEC) of an ATM cell: CRC-8 of the four header bytes plus a constant.
//
// Timing: combinational.
module myri_fifo_card_hec
  import myri_fifo_card_pkg::*;
(
    input logic [31:0] header,  // four bytes, the first in lane 0
    output logic [7:0] hec  // the fifth
);
  logic [39:0] crc;

  assign crc[7:0] = 8'd0;
  for (genvar k = 0; k < 4; k++) begin : gen_byte
    myri_crc8 u_crc (
        .crc (crc[8*k+:8]),
        .data(header[8*k+:8]),
        .next(crc[8*k+8+:8])
    );
  end
  assign hec = crc[39:32] ^ HEC_COSET;
endmodule
