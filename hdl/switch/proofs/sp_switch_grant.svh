// If packets request a free output, one of them crosses it at once; each of the others goes to the central queue, and
// an output has one owner. While `busy` is 0 and no GAP leaves (the input and the output of the GAP keep their clocks
// running), no register changes, and no output gets an owner. An arbitrary input, `k`, is followed.
// prove: induction 2 PORTS=4
(* anyconst *) logic [PW-1:0] k;
logic [3:0] wanted;
logic rivals;  // other inputs request the output of k, too
logic [PORTS-1:0] open;  // outputs without an owner behind this edge, of the packets that were here before
assign wanted = request_port[4*k+:4];
always_comb for (int i = 0; i < PORTS; i++) open[i] = !occupied[i] && (!direct[i] || released[i]);
always_comb begin
  rivals = 1'b0;
  for (int i = 0; i < PORTS; i++) if (i != 32'(k) && request[i] && request_port[4*i+:4] == wanted) rivals = 1'b1;
end

initial assume (rst);
always_comb for (int i = 0; i < PORTS; i++) assume (32'(request_port[4*i+:4]) < PORTS);
always @(posedge clk)
  if (!$initstate && !rst) begin
    if (won[k]) assert (request[k] && open[wanted[PW-1:0]] && taken[wanted[PW-1:0]]);
    if (request[k] && open[wanted[PW-1:0]]) assert (taken[wanted[PW-1:0]] && (won[k] || rivals));
    if (taken[k]) assert (open[k]);
    if (!$past(rst)) begin
      assert (tr_grant[k] == $past(won[k]) && tr_queue[k] == $past(request[k] && !won[k]));
      if ($past(won[k])) assert (crossing[k] && direct[$past(wanted[PW-1:0])] && owner[PW*$past(wanted[PW-1:0])+:PW] == k);
      else assert (crossing[k] == $past(crossing[k] && !gap_leaves[k]));
      assert (queueing[k] == ($past(request[k] && !won[k]) || $past(queueing[k] && !gap_leaves[k])));
      assert (direct[k] == ($past(taken[k]) || $past(direct[k] && !released[k])));
      if (!$past(taken[k])) assert (owner[PW*k+:PW] == $past(owner[PW*k+:PW]));
      if (!busy) assert (taken == '0);
      if (!$past(busy || gap_leaves != '0 || released != '0)) begin
        assert ($stable(crossing) && $stable(queueing) && $stable(direct) && $stable(owner));
        assert ($stable(tr_grant) && $stable(tr_queue));
      end
    end else assert ({crossing, queueing, direct, owner, tr_grant, tr_queue} == '0);
    cover (!busy && direct != '0);
    cover (won[k] && rivals);
  end
