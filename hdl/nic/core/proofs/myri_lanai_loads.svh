// An instruction waits exactly while it uses a register whose load was executed at most cfg_load_delay (at least one)
// clocks ago.
// prove: induction 2
logic [32*DEPTH-1:0] young;  // registers loaded 1 + k clocks ago, one bit each
logic [31:0] pending;

always_comb begin
  pending = young[31:0];
  for (int i = 1; i < DEPTH; i++) if (i < 32'(cfg_load_delay)) pending = pending | young[32*i+:32];
end

initial assume (rst);
always @(posedge clk) young <= rst ? '0 : {young[32*DEPTH-33:0], loads ? 32'd1 << load_rd : 32'd0};

for (genvar k = 0; k < DEPTH; k++) begin : gen_young
  always @(posedge clk)
    if (!$initstate && !rst)
      assert (young[32*k+:32] == (loaded_q[k] ? 32'd1 << rd_q[5*k+:5] : 32'd0));
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (waits == ((uses & pending) != 32'd0));
    cover (waits && pending == 32'd1 << 6 && cfg_load_delay == 3'd4);
  end
