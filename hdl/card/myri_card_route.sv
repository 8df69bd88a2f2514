// Destination and type of the answer to a message.
//
// The result of a circuit goes where the circuit's forwarding entry says, the answer to a control message to its source
// if it names a handler, an error to its source. The source of a copy from a multicast tree is the tree's first sender,
// as a host. A result can also become a remote write, which carries it, or a remote read, whose parameters are its first
// words. A segment of a long result has the type that its receiver reassembles; of an error about a card's own message,
// the card's host is the receiver. Combinational.
module myri_card_route
  import myri_card_pkg::*;
(
    input card_purpose_t purpose,  // purpose of the message
    input card_place_t place,  // forwarding entry of the circuit
    input logic [15:0] place_handler,  // its handler
    input logic [15:0] error_handler,  // see CardReg
    input logic [15:0] self,  // own endpoint
    input card_header_t header,  // header of the message
    input logic [3:0][31:0] arguments,  // its arguments
    input logic [17:0] count,  // bytes of the result, or of its segment
    input logic more,  // the segment is not the last
    input logic parted,  // it is not the first
    input logic [31:0] offset,  // bytes of the segments before it
    input logic [24:0] total,  // bytes of the message up to its current segment
    input logic [24:0] most,  // bytes that its circuit accepts
    input logic [3:0][31:0] words,  // its first four words, 0 where it has none
    output logic send,  // an answer is sent
    output logic bare,  // 1 = the answer has no payload
    output logic [15:0] to,  // endpoint of the answer
    output logic [7:0] to_channel,  // channel at that endpoint
    output logic [15:0] to_handler,  // handler at that endpoint; bytes of a remote read
    output logic [5:0] to_kind,  // type of the answer
    output logic [7:0] to_tree,  // its multicast tree
    output logic [3:0][31:0] to_arguments  // its arguments
);
  // Bytes of a read beyond 16 bits become 0, which the NIC that is read rejects like any size above a segment.
  logic [15:0] size;
  assign size = words[2][31:16] != '0 ? 16'd0 : words[2][15:0];

  logic forwarded;  // a copy from a multicast tree
  assign forwarded = header.kind[5:2] == MESSAGE_FORWARDED[5:2] && header.kind != MESSAGE_CARD_SEGMENT;

  logic [15:0] answered;  // endpoint that gets a reply
  logic to_card;  // the result goes to another card
  assign answered = forwarded ? {header.destination[15:8], 8'd0} : header.source;
  assign to_card = (place.mode == FORWARD_REPLY ? answered[1:0] : place.endpoint[1:0]) == CARD_DEVICE;

  always_comb begin
    to = answered;
    to_channel = forwarded ? header.destination[7:0] : header.channel;
    to_kind = MESSAGE_ACTIVE;
    to_tree = '0;
    bare = 1'b0;
    to_handler = arguments[3][15:0];
    to_arguments = arguments;
    send = arguments[3][15:0] != '0;
    case (purpose)
      PURPOSE_TABLE: ;
      PURPOSE_REFUSAL, PURPOSE_NO_ENTRY, PURPOSE_TOO_LONG: begin
        if (answered[1:0] == CARD_DEVICE) begin
          to = {answered[15:2], 2'd0};
          to_channel = '0;
        end
        to_handler = error_handler;
        to_arguments = {
          header.first, {16'd0, self}, {16'd0, header.handler}, 32'(CARD_UNKNOWN_CIRCUIT)
        };
        if (purpose == PURPOSE_NO_ENTRY)
          to_arguments = {header.first, {16'd0, self}, arguments[0], 32'(CARD_UNKNOWN_ENTRY)};
        if (purpose == PURPOSE_TOO_LONG)
          to_arguments = {{7'd0, most}, {7'd0, total}, {16'd0, header.handler}, 32'(CARD_TOO_LONG)};
        send = error_handler != '0;
      end
      default: begin
        send = place.mode == FORWARD_REPLY;
        if (place.mode != FORWARD_REPLY) begin
          to = place.endpoint;
          to_channel = place.channel;
          to_handler = place_handler;
        end
        if (place.mode == FORWARD_ENDPOINT) send = 1'b1;
        if ((more || parted) && to_card) begin
          to_kind = MESSAGE_CARD_SEGMENT;
          to_tree = {6'd0, more, parted};
        end else if (more) begin  // the total is not yet known
          to_kind = MESSAGE_SEGMENT;
          to_arguments = {64'd0, offset, 32'd0};
        end
        if (place.mode == FORWARD_WRITE) begin
          send = count != '0;
          to_kind = MESSAGE_RM_V;
          to_tree = '0;
          to_handler = '0;
          to_arguments = {
            14'd0, count, arguments[3], more ? 32'd0 : arguments[2], arguments[1] + offset
          };
        end
        if (place.mode == FORWARD_FETCH) begin
          send = count != '0 && !parted;
          to_tree = '0;
          to_kind = MESSAGE_RM_RV;
          bare = 1'b1;
          to_handler = size;
          to_arguments = {words[2], words[3], words[1], words[0]};
        end
        if (place.mode == FORWARD_TREE) begin
          send = 1'b1;
          to_kind = more ? MESSAGE_MULTICAST_SEGMENT : parted ? MESSAGE_MULTICAST_LAST : MESSAGE_MULTICAST;
          to_tree = {3'd0, place.tree};
        end
      end
    endcase
  end

  logic unused;
  assign unused = &{1'b0, header};
endmodule
