// Destination of the answer to a message.
//
// The result of a circuit goes where the circuit's forwarding entry says, the answer to a control message to its source
// if it names a handler, an error to its source. Combinational.
module myri_card_route
  import myri_card_pkg::*;
(
    input card_purpose_t purpose,  // purpose of the message
    input card_place_t place,  // forwarding entry of the circuit
    input logic [15:0] place_handler,  // its handler
    input logic [15:0] error_handler,  // see CardReg
    input logic [15:0] self,  // own endpoint
    input logic [15:0] source,  // source endpoint of the message
    input logic [7:0] source_channel,  // channel of that endpoint
    input logic [15:0] handler,  // handler named in the message
    input logic [31:0] first_word,  // first word of the message
    input logic [3:0][31:0] arguments,  // its arguments
    output logic send,  // an answer is sent
    output logic [15:0] to,  // endpoint of the answer
    output logic [7:0] to_channel,  // channel at that endpoint
    output logic [15:0] to_handler,  // handler at that endpoint
    output logic [3:0][31:0] to_arguments  // its arguments
);
  always_comb begin
    to = source;
    to_channel = source_channel;
    to_handler = arguments[3][15:0];
    to_arguments = arguments;
    send = to_handler != '0;
    case (purpose)
      PURPOSE_TABLE: ;
      PURPOSE_REFUSAL, PURPOSE_NO_ENTRY: begin
        to_handler   = error_handler;
        to_arguments = {first_word, {16'd0, self}, {16'd0, handler}, 32'(CARD_UNKNOWN_CIRCUIT)};
        if (purpose == PURPOSE_NO_ENTRY)
          to_arguments = {first_word, {16'd0, self}, arguments[0], 32'(CARD_UNKNOWN_ENTRY)};
        send = error_handler != '0;
      end
      default: begin
        send = place.mode == FORWARD_REPLY;
        if (place.mode == FORWARD_ENDPOINT) begin
          to = place.endpoint;
          to_channel = place.channel;
          to_handler = place_handler;
          send = 1'b1;
        end
      end
    endcase
  end

  logic unused;
  assign unused = &{1'b0, place.reserved};
endmodule
