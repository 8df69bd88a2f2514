// A register, a handler and a forwarding entry (an arbitrary one of each) hold what was last written, and 0 after
// reset; nothing else changes them. Looking up a handler returns its circuit. Slots change only while no message is
// processed, once for each request, and then as the last request said (an arbitrary slot is followed). A control byte is
// kept until it is read or overwritten.
// Assumed: a handler number belongs to at most one circuit.
// prove: induction 2
// unseen: `==` -> `!=` in `assign match[i] = handlers_q[i] == {1'b1, handler};`: nearly all entries would match, which the assumption excludes
(* anyconst *) logic [7:0] which;
(* anyconst *) logic [3:0] k;
logic [31:0] held;
logic [16:0] held_handler;
logic [47:0] held_forward;
(* anyconst *) logic [1:0] s;
logic due;  // a request for slots
myri_card_pkg::card_change_t request;
logic [7:0] image, image_was, image_next;
assign image = images[8*s+:8];
always_ff @(posedge clk) image_was <= image;
always_ff @(posedge clk) image_next <= request.slots[s] ? request.image : image;

logic as_written;  // register `which`

always_comb
  case (which)
    myri_card_pkg::CARD_BACK0: as_written = back0 == held[23:0];
    myri_card_pkg::CARD_BACK1: as_written = back1 == held[23:0];
    myri_card_pkg::CARD_LIMIT: as_written = limit == held[23:0];
    myri_card_pkg::CARD_SELF: as_written = self == held[15:0] && channel == held[23:16];
    myri_card_pkg::CARD_RUN: as_written = run == held[0];
    myri_card_pkg::CARD_CLOCK: as_written = clock_divisor == held[7:0];
    myri_card_pkg::CARD_CONTROL_HANDLER: as_written = control_handler == held[15:0];
    myri_card_pkg::CARD_ERROR_HANDLER: as_written = error_handler == held[15:0];
    myri_card_pkg::CARD_CONTROL: as_written = mail == held[7:0];
    default: as_written = 1'b1;
  endcase

initial assume (rst);
always_comb assume ((match & (match - 16'd1)) == 16'd0);
always @(posedge clk)
  if (rst) {held, held_handler, held_forward, due, request} <= '0;
  else begin
    if (w_valid && w_addr == myri_card_pkg::CARD_IMAGE) {due, request} <= {1'b1, w_data[12:0]};
    else if (idle) due <= 1'b0;
    if (w_valid && w_addr == which) held <= w_data;
    if (w_valid && w_addr[7:6] == 2'b10 && w_addr[5:2] == k) held_handler <= {w_data[31], w_data[15:0]};
    if (set_valid && set_circuit[3:0] == k) held_forward <= {set_place, set_handler};
  end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (as_written);
    assert (handlers_q[k] == held_handler && (known_q[k] ? forwards[k] : 48'd0) == held_forward);
    if (asked[3:0] == k) assert ({place, place_handler} == held_forward);
    if (held_handler == {1'b1, handler}) assert (listed && listed_circuit == {4'd0, k});
    else if (listed) assert (listed_circuit != {4'd0, k});
    if (!listed) assert (match == 16'd0);
    assert (settled == !due && changed == (due && idle) && change_q == request);
    if ($past(rst)) assert (image == 8'd0 && !configured && settled && !mail_valid);
    else begin
      if (!$past(changed)) assert (image == image_was && $stable(configured));
      else assert (image == image_next);
      if ($past(changed) && !$past(request.device)) assert ($stable(configured));
      if ($past(changed) && $past(request.device)) assert (configured == ($past(request.image) != 8'd0));
      assert (mail_valid == ($past(w_valid && w_addr == myri_card_pkg::CARD_CONTROL) || ($past(mail_valid) && !$past(mail_taken))));
    end
    cover (listed && listed_circuit == 8'd5 && configured && image == 8'd7);
  end
