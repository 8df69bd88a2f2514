// Each half of a beat with enabled lanes becomes one entry or is counted as dropped. An entry lies inside its FIFO. A
// FIFO never holds more entries than its capacity, provided that the firmware's consumer does not pass the producer.
// prove: induction 3
(* anyconst *) logic [2:0] the_size;
(* anyconst *) logic the_multi;
(* anyconst *) logic [1:0] lane;  // lane of an entry
logic [1:0] steps;  // of this beat so far
logic [1:0] halves;  // of it that have lanes
logic [22:0] in_region;  // byte offsets of a FIFO
logic held_up;  // the beat of the clock before was not taken
logic [95:0] beat;
logic [16:0] first_number;  // producer of the first FIFO

assign first_number = producer[0];

assign halves = 2'(in_be[7:4] != 4'd0) + 2'(in_be[3:0] != 4'd0);
assign in_region = {3'd0, entries, 3'b000} - 23'd1;

initial assume (rst);
always_comb begin
  assume (size == the_size && multi == the_multi && the_size <= 3'd6);
  for (int k = 0; k < 4; k++) begin
    if (w_consumer[k]) assume (17'(producer[k] - w_data) <= 17'(consumer[k] - w_data));
    if (w_consumer[k]) assume (17'(producer[k] - w_data) <= entries);
    if (w_consumer[k]) assume (!(in_valid && fifo == k));
    if (w_base[k]) assume ((w_base_data[22:0] & in_region) == 23'd0);
  end
end
always @(posedge clk) begin
  held_up <= in_valid && !in_ready && !rst;
  beat <= {in_addr, in_be, in_data};
end
always_comb if (held_up) assume (in_valid && {in_addr, in_be, in_data} == beat);
always @(posedge clk)
  if (rst || !in_valid || in_ready) steps <= 2'd0;
  else if (step) steps <= steps + 2'd1;

for (genvar k = 0; k < 4; k++) begin : gen_held
  logic [16:0] held;
  assign held = producer[k] - consumer[k];
  always @(posedge clk)
    if (!$initstate && !rst) begin
      assert (held <= entries);
      assert ((base[k][22:0] & in_region) == 23'd0);
      if ($past(w_base[k])) assert (producer[k] == 17'd0 && consumer[k] == 17'd0);
    end
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (!(wake && overflow));
    if (in_valid && in_ready) assert (steps + 2'(step) == halves);
    if (sram.req) begin
      assert ((sram.addr & ~in_region) == base_k[22:0] && sram.addr[2:0] == 3'd0);
      assert ((sram.addr & in_region) == ({3'd0, producer_k, 3'b000} & in_region));
      assert (sram.wdata[31:0] == {address[7:0], address[15:8], address[23:16], address[31:24]});
      assert (sram.write && sram.be == 8'hFF && fill < entries);
    end
    if (steps != 2'd0) assert (low_done_q && held_up && steps == 2'd1 && halves == 2'd2);
    else assert (!low_done_q);
    if (step && steps == 2'd0) assert (address[2] == (in_be[3:0] == 4'd0));
    if (step && steps == 2'd1) assert (address[2]);
    assert (address == {8'd0, in_addr[23:3], address[2], 2'b00} && sram.wdata[63:32] == {value[7:0], value[15:8], value[23:16], value[31:24]});
    assert (sram.wdata[32+8*lane+:8] == (in_be[{address[2], lane}] ? in_data[8*{address[2], lane}+:8] : 8'd0));
    if ($past(rst)) assert ({base, producer, consumer, overflows} == '0);
    if (!$past(rst)) begin
      assert (overflows == $past(overflows) + 32'($past(overflow)));
      if (!$past(busy)) assert ($stable(producer) && $stable(consumer) && $stable(base) && $stable(overflows));
      if ($past(wake) && $past(w_base) == 4'd0 && $past(fifo) == 2'd0) assert (first_number == $past(first_number) + 17'd1);
    end
    cover (wake && steps == 2'd1);
    cover (overflow);
  end
