// An output serves one input, from its grant until the GAP of its packet has left. A requesting input waits until it
// has its output, and owns at most one. An output sends the characters of its owner. Assumed of an input: it requests
// one output, again only after its packet has left, and it reports when its GAP leaves.
// prove: induction 2 PORTS=4
// unseen: `owner_q <= '0;` -> `;` in `owner_q <= '0;`: the owner of an idle output is not read
// unseen: `'0` -> `'1` in `owner_q <= '0;`: the owner of an idle output is not read
// unseen: `'0` -> `'1` in `gap   = '0;`: data of an idle output are not read while `s_valid` is 0
// unseen: `'0` -> `'1` in `data  = '0;`: data of an idle output are not read while `s_valid` is 0
logic [PORTS*PORTS-1:0] serves;  // output by output: its owner
logic [PORTS*PORTS-1:0] seeks;  // output by output: inputs that wait for it
logic [3*PORTS-1:0] owned;  // per input: outputs that serve it
logic [3*PORTS-1:0] sought;  // per input: outputs that have its request
logic [PORTS-1:0] left;  // per input: its GAP is sent

always_comb begin
  owned = '0;
  sought = '0;
  left = '0;
  for (int i = 0; i < PORTS; i++) begin
    owned[3*i+:3] = 3'(serves[i]) + 3'(serves[PORTS+i]) + 3'(serves[2*PORTS+i]) + 3'(serves[3*PORTS+i]);
    sought[3*i+:3] = 3'(seeks[i]) + 3'(seeks[PORTS+i]) + 3'(seeks[2*PORTS+i]) + 3'(seeks[3*PORTS+i]);
    left[i] = (serves[i] && released[0]) || (serves[PORTS+i] && released[1]) ||
        (serves[2*PORTS+i] && released[2]) || (serves[3*PORTS+i] && released[3]);
  end
end

for (genvar o = 0; o < PORTS; o++) begin : gen_seen
  assign seeks[PORTS*o+:PORTS] = gen_port[o].pending_q;
  for (genvar i = 0; i < PORTS; i++) begin : gen_input
    assign serves[PORTS*o+i] = serving_q[o] && owner_q[$clog2(PORTS)*o+:$clog2(PORTS)] == i;
  end
  always @(posedge clk)
    if (!$initstate && !rst) begin
      assert (s_valid[o] == ((serves[PORTS*o+:PORTS] & x_valid) != '0));
      if (s_valid[o]) assert (s_tail[o] == ((serves[PORTS*o+:PORTS] & x_tail) != '0));
      if (s_valid[o]) assert (s_data[8*o+:8] == x_data[8*owner_q[$clog2(PORTS)*o+:$clog2(PORTS)]+:8]);
      assert (owner_q[$clog2(PORTS)*o+:$clog2(PORTS)] < PORTS);
      assert (released[o] == (s_valid[o] && s_ready[o] && s_tail[o]));
      if (!$past(rst) && !$past(output_needed[o]))
        assert ($stable(owner_q[$clog2(PORTS)*o+:$clog2(PORTS)]) && $stable(gen_port[o].pending_q));
      if (!$past(rst)) begin
        if ($past(serving_q[o]) && !$past(released[o]))
          assert (serving_q[o] && $stable(owner_q[$clog2(PORTS)*o+:$clog2(PORTS)]));
        if ((seeks[PORTS*o+:PORTS] & ~$past(seeks[PORTS*o+:PORTS])) != '0)
          assert (($past(request) & seeks[PORTS*o+:PORTS]) != '0);
        if ($past(asked[o]) && (!$past(serving_q[o]) || $past(released[o]))) assert (serving_q[o]);
        if (!$past(asked[o]) && $past(released[o])) assert (!serving_q[o]);
        if (!serving_q[o] && $past(serving_q[o])) assert ($past(released[o]));
      end
    end
end

initial assume (rst);
always_comb begin
  assume (gap_leaves == left);
  assume ((request & (waiting | active)) == '0);
  for (int i = 0; i < PORTS; i++) assume (request_port[4*i+:4] < PORTS);
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    for (int i = 0; i < PORTS; i++) begin
      assert (owned[3*i+:3] == 3'(active[i]));
      assert (sought[3*i+:3] == 3'(waiting[i]));
      assert (!(active[i] && waiting[i]));
      if (!$past(rst)) begin
        if ($past(request[i])) assert (waiting[i] && seeks[PORTS*$past(request_port[4*i+:2])+i]);
        if ($past(waiting[i])) assert (waiting[i] || (active[i] && tr_grant[i]));
        if ($past(active[i]) && !$past(gap_leaves[i])) assert (active[i]);
        if ($past(gap_leaves[i])) assert (!active[i]);
        assert (tr_grant[i] == (active[i] && !$past(active[i])));
      end
    end
    if ($past(rst)) assert ({serving_q, waiting, active, tr_grant} == '0);
    if (!$past(rst) && !$past(busy) && $past(request) == '0 && $past(gap_leaves) == '0)
      assert ($stable(serving_q) && $stable(waiting) && $stable(active) && $stable(seeks));
    cover (active == 4'b1111);
  end
