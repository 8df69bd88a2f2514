// Tables of the message shell: registers received from the bus side, the handler table, the forwarding table.
//
// Timing: a write is visible one clock later. Look-ups are combinational.
module myri_card_tables
  import myri_card_pkg::*;
(
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    input logic w_valid,  // a register is written
    input logic [7:0] w_addr,  // CardReg
    input logic [31:0] w_data,  // value
    output logic [23:0] back0,  // see CardReg
    output logic [23:0] back1,  // see CardReg
    output logic [23:0] limit,  // see CardReg
    output logic [15:0] self,  // own endpoint
    output logic [7:0] channel,  // own channel
    output logic run,  // see CardReg
    output logic [15:0] segment_bytes,  // bytes of a segment of a result; see CardReg.RUN
    output logic [7:0] clock_divisor,  // see CardReg
    input logic idle,  // no message is being processed, so slots may change
    output logic [31:0] images,  // image of each slot, slot 0 in the low bits; 0 = empty
    output logic configured,  // the whole device is loaded
    output logic settled,  // no change of slots is pending
    output logic changed,  // strobe: a change has been made
    output logic [15:0] control_handler,  // see CardReg
    output logic [15:0] error_handler,  // see CardReg
    output logic mail_valid,  // a byte in the control mailbox
    output logic [7:0] mail,  // its value
    input logic mail_taken,  // the shell has read it
    input logic [15:0] handler,  // handler whose circuit is looked up
    output logic listed,  // there is a message
    output logic [7:0] listed_circuit,  // number
    input logic set_valid,  // strobe: set a forwarding entry
    input logic [7:0] set_circuit,  // of this circuit
    input logic [31:0] set_place,  // {mode 3, tree 5, channel 8 [23:16], endpoint 16}
    input logic [15:0] set_handler,  // handler at the destination
    input logic [7:0] asked,  // circuit whose entry is looked up
    output logic [31:0] place,  // its place
    output logic [15:0] place_handler  // its handler
);
  logic [CARD_CIRCUITS-1:0][16:0] handlers_q;
  logic [CARD_CIRCUITS-1:0] known_q;  // forwarding entries set since reset; the others are 0
  logic [47:0] forwards[0:CARD_CIRCUITS-1];

  logic [CARD_CIRCUITS-1:0] match;
  for (genvar i = 0; i < CARD_CIRCUITS; i++) begin : gen_match
    assign match[i] = handlers_q[i] == {1'b1, handler};
  end
  assign listed = match != '0;
  // A handler number belongs to at most one circuit, so the circuit is the index of the bit that is set.
  assign listed_circuit = {
    4'd0,
    (match & 16'hFF00) != '0,
    (match & 16'hF0F0) != '0,
    (match & 16'hCCCC) != '0,
    (match & 16'hAAAA) != '0
  };
  assign {place, place_handler} = known_q[asked[3:0]] ? forwards[asked[3:0]] : 48'd0;

  always_ff @(posedge clk) begin
    if (rst) handlers_q <= '0;
    else if (w_valid && w_addr[7:6] == 2'b10) handlers_q[w_addr[5:2]] <= {w_data[31], w_data[15:0]};
  end
  always_ff @(posedge clk) begin
    if (rst) known_q <= '0;
    else if (set_valid) known_q[set_circuit[3:0]] <= 1'b1;
  end
  always_ff @(posedge clk) if (set_valid) forwards[set_circuit[3:0]] <= {set_place, set_handler};

  always_ff @(posedge clk) begin
    if (rst) begin
      back0 <= '0;
      back1 <= '0;
      limit <= '0;
      self <= '0;
      channel <= '0;
      run <= 1'b0;
      segment_bytes <= '0;
      clock_divisor <= '0;
      control_handler <= '0;
      error_handler <= '0;
    end else if (w_valid) begin
      case (w_addr)
        CARD_BACK0: back0 <= w_data[23:0];
        CARD_BACK1: back1 <= w_data[23:0];
        CARD_LIMIT: limit <= w_data[23:0];
        CARD_SELF: {channel, self} <= w_data[23:0];
        CARD_RUN: {segment_bytes, run} <= {w_data[31:16], w_data[0]};
        CARD_CLOCK: clock_divisor <= w_data[7:0];
        CARD_CONTROL_HANDLER: control_handler <= w_data[15:0];
        CARD_ERROR_HANDLER: error_handler <= w_data[15:0];
        default: ;
      endcase
    end
  end

  // A message keeps the images with which it began. The next change comes when this one has been reported.
  card_change_t change_q;
  logic [CARD_SLOTS-1:0] slots;
  logic pending_q;
  assign slots   = change_q.slots;
  assign settled = !pending_q;
  assign changed = pending_q && idle;
  always_ff @(posedge clk) begin
    if (rst) begin
      pending_q <= 1'b0;
      change_q  <= '0;
    end else if (w_valid && w_addr == CARD_IMAGE) begin
      pending_q <= 1'b1;
      change_q  <= w_data[$bits(card_change_t)-1:0];
    end else if (changed) begin
      pending_q <= 1'b0;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      images <= '0;
      configured <= 1'b0;
    end else if (changed) begin
      for (int i = 0; i < CARD_SLOTS; i++) if (slots[i]) images[8*i+:8] <= change_q.image;
      if (change_q.device) configured <= change_q.image != '0;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      mail_valid <= 1'b0;
      mail <= '0;
    end else if (w_valid && w_addr == CARD_CONTROL) begin
      mail_valid <= 1'b1;
      mail <= w_data[7:0];
    end else if (mail_taken) begin
      mail_valid <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, w_data[30:24], set_circuit[7:4], asked[7:4]};
endmodule
