// As many grants per clock as there are accesses, each to a requester, by priority; the host's two requesters
// alternate. Read data arrive one clock later, from the port of the access.
// prove: induction 2
logic [4:0] asks;  // PIO, DMA, net receive, net send, processor
logic [4:0] has;
logic [1:0] accesses;
logic waited;  // PIO or host DMA requested while the other was granted

assign asks = {cpu_sram.req, tx_sram.req, rx_sram.req, dma_sram.req, pio_sram.req};
assign has = {cpu_gnt, tx_gnt, rx_gnt, dma_gnt, pio_gnt};
assign accesses = (cfg_accesses == 2'd1) ? 2'd1 : 2'd2;

initial assume (rst);
always_comb begin
  assert ((has & ~asks) == 5'd0);
  assert ($countones(has) == (($countones(asks) < 32'(accesses)) ? $countones(asks) : 32'(accesses)));
  if (cpu_gnt) assert ((asks[3:0] & ~has[3:0]) == 4'd0);
  if (tx_gnt) assert ((asks[2:0] & ~has[2:0]) == 3'd0);
  if (rx_gnt) assert ((asks[1:0] & ~has[1:0]) == 2'd0);
  assert (mem_a.req == (asks != 5'd0));
  assert (cpu_free == ($countones(asks[3:0]) < 32'(accesses)));
  if (cpu_sram.req) assert (cpu_gnt == cpu_free);
  assert (mem_b.req == ($countones(asks) > 1 && accesses == 2'd2));
end
always @(posedge clk) if (!$initstate && !rst && $past(rst)) assert ({dma_first_q, from_b_q, read_q} == '0);
always @(posedge clk)
  if (!$initstate && !rst && !$past(rst)) begin
    if ($past(pio_sram.req && dma_sram.req && dma_gnt && !pio_gnt) && pio_sram.req) assert (pio_gnt);
    if ($past(pio_sram.req && dma_sram.req && pio_gnt && !dma_gnt) && dma_sram.req) assert (dma_gnt);
    assert (pio_read.valid == $past(pio_gnt && !pio_sram.write));
    assert (dma_read.valid == $past(dma_gnt && !dma_sram.write));
    assert (tx_read.valid == $past(tx_gnt));
    assert (cpu_read.valid == $past(cpu_gnt && !cpu_sram.write));
    if (pio_read.valid) assert (pio_read.data == ($past(mem_a.addr == pio_sram.addr && on_a[0]) ? mem_a_rdata : mem_b_rdata));
    if (cpu_read.valid) assert (cpu_read.data == ($past(on_a[4]) ? mem_a_rdata : mem_b_rdata));
    if (tx_read.valid) assert (tx_read.data == ($past(on_a[3]) ? mem_a_rdata : mem_b_rdata));
    if (dma_read.valid) assert (dma_read.data == ($past(on_a[1]) ? mem_a_rdata : mem_b_rdata));
    if (!$past(busy) && !$past(cpu_sram.req))
      assert ($stable(dma_first_q) && $stable(read_q[3:1]));
    cover (has == 5'b00011);
  end
always_comb begin
  if (on_a[0]) assert (mem_a == pio_sram);
  if (on_b[0]) assert (mem_b == pio_sram);
  if (on_a[1]) assert (mem_a == dma_sram);
  if (on_b[1]) assert (mem_b == dma_sram);
  if (on_a[2]) assert (mem_a == rx_sram);
  if (on_b[2]) assert (mem_b == rx_sram);
  if (on_a[3]) assert (mem_a == tx_sram);
  if (on_b[3]) assert (mem_b == tx_sram);
  if (on_a[4]) assert (mem_a == cpu_sram);
  if (on_b[4]) assert (mem_b == cpu_sram);
  assert ((on_a & on_b) == 5'd0);
end
