// Entries leave in the order of arrival: the tail never passes the head, the head never reaches the tail, and the number
// of entries is that of the accepted strobes. One arbitrary entry is followed: between its `put` and its `take` no other
// entry is put in its place. Assumed: the mask is constant, and the processor moves a pointer by one entry, with room for
// it or an entry to take, and never in the clock of a strobe for the same pointer.
// prove: induction 2
(* anyconst *) logic [4:0] log2;
(* anyconst *) logic [15:0] place;
logic [15:0] level;  // entries held
logic [15:0] distance;  // from the tail to the head
logic [15:0] ahead;  // entries before the place
logic there;  // the place holds an entry
logic puts;
logic takes;

assign distance = (head - tail) & mask;
assign ahead = (place - tail) & mask;
assign puts = head_write || (put && !full);
assign takes = tail_write || (take && !empty);
initial assume (rst);
always_comb begin
  assume (log2 >= 5'd2 && log2 <= 5'd16 && mask == 16'((17'd1 << log2) - 17'd1));
  if (head_write) assume (!put && !full && (value & mask) == ((head + 16'd1) & mask));
  if (tail_write) assume (!take && !empty && (value & mask) == ((tail + 16'd1) & mask));
  assume (place <= mask);
end
always @(posedge clk) begin
  if (rst || clear) begin
    level <= '0;
    there <= 1'b0;
  end else begin
    level <= level + 16'(puts) - 16'(takes);
    if (puts && head == place) there <= 1'b1;
    else if (takes && tail == place) there <= 1'b0;
  end
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (head <= mask && tail <= mask);
    assert (level == distance);
    assert (empty == (level == '0) && full == (level == mask));
    assert (there == (ahead < level));
    if (puts) assert (!(there && head == place));
    if (takes && tail == place) assert (there);
    cover (full && put);
    cover (head_write && tail == 16'd2);
    cover (tail_write && full);
    cover (level == 16'd3 && tail == mask);
  end
