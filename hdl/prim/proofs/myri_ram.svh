// A word that is read is the value written last, also when it is written at the same edge. Without `write` no word
// changes, and without `read` the output does not. One arbitrary place is followed.
// prove: induction 2 WIDTH=2 DEPTH_LOG2=2
(* anyconst *) logic [DEPTH_LOG2-1:0] place;
logic there;  // the place was written
logic [WIDTH-1:0] held;  // its value
logic shown;  // the output is its value as of the last read
logic [WIDTH-1:0] read_value;
logic [WIDTH-1:0] entry;
assign entry = mem[place];
initial assume (!there && !shown);
always @(posedge clk) begin
  if (write && w_addr == place) {there, held} <= {1'b1, w_data};
  if (read) begin
    shown <= r_addr == place && (there || (write && w_addr == place));
    read_value <= write && w_addr == place ? w_data : held;
  end
end
always_comb begin
  if (there) assert (entry == held);
  if (shown) assert (r_data == read_value);
end
always @(posedge clk)
  if (!$initstate) begin
    if (!$past(write)) assert ($stable(entry));
    if (!$past(read)) assert ($stable(r_data));
    cover (shown && $past(write) && $past(w_addr) == place);
  end
