// Equal to the definition: eight shifts, each followed by the polynomial 0x07 if the bit shifted out is 1.
// prove: bounded 1
logic [7:0] shifted;
always_comb begin
  shifted = crc ^ data;
  for (int i = 0; i < 8; i++) shifted = {shifted[6:0], 1'b0} ^ (shifted[7] ? 8'h07 : 8'h00);
  assert (next == shifted);
end
