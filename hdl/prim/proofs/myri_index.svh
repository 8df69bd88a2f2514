// The index of a single bit that is set; 0 if none is.
// prove: bounded 1 N=8
// prove: bounded 1 N=5
always_comb begin
  assume ((one_hot & (one_hot - 1'b1)) == '0);
  for (int i = 0; i < N; i++) if (one_hot[i]) assert (index == i);
  if (one_hot == '0) assert (index == 0);
end
