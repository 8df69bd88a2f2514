// Message shell of the FPGA: takes messages alternately from the two incoming queues, passes each to its circuit, and
// sends the result as the circuit's forwarding entry says.
//
// A message is started only when its result has room (bank 2 is free), so a full outgoing queue never holds a bank of
// an incoming queue. The incoming bank is released while other banks are awaited, and as soon as its last word is read.
// The NIC may then fill it while the circuit works, and a host that holds another bank does not keep the NIC from it.
// A message for a circuit that is not loaded, but is part of an image, stays in its queue until another image is
// loaded; the bank is released meanwhile. A message for an unknown handler, and a control message for an unknown
// circuit, are answered with an error to the source. An image changes between two messages, never during one.
// Control messages set forwarding entries: arguments {circuit, place, handler, handler of the answer or 0}.
// Timing: ten user clocks for header and look-up, one per payload word that the circuit accepts, eight for the header
// of a result. No register but those of the crossings changes without `ce`.
module myri_card_shell
  import myri_card_pkg::*;
(
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    output logic ce,  // clock enable of the user clock
    input logic f_valid,  // a register is written
    output logic f_ready,  // accepted
    input card_write_t f_word,  // register and value
    output logic s_valid,  // status word for the bus side
    input logic s_ready,  // accepted
    output card_report_t s_word,  // kind and value
    output logic job_valid,  // job for the uplink
    input logic job_ready,  // accepted
    output card_job_t job,  // the job
    input logic sent,  // strobe: the result is in the NIC's memory
    output logic [3:0] want,  // banks requested
    input logic [3:0] granted,  // banks granted
    output logic [8:0] wanted,  // number of the image to look up
    input logic exists,  // 1 = it exists
    output logic [7:0] image,  // loaded image, 0 = none
    output logic [7:0] circuit,  // number of the circuit to look up
    input logic known,  // some image contains it
    input logic here,  // the loaded image contains it ...
    input logic [1:0] slot,  // ... in this slot
    output logic [CARD_SLOTS-1:0] active,  // active slot
    output logic [3:0][31:0] arguments,  // arguments of the message
    output logic in_valid,  // word to the active slot
    input logic in_ready,  // accepted
    output logic in_last,  // last word of its message
    output logic [2:0] in_bytes,  // valid bytes in the word
    output logic [31:0] in_data,  // its value
    input logic out_valid,  // word from the active slot
    output logic out_ready,  // accepted
    input logic out_last,  // last word of its message
    input logic [2:0] out_bytes,  // valid bytes in the word
    input logic [31:0] out_data,  // its value
    output logic head_valid,  // read of an incoming queue
    output logic head_bank,  // bank 0 or 1
    output logic [18:0] head_addr,  // word
    input logic [31:0] head_rdata,  // data, from the next clock on
    output logic result_valid,  // write of bank 2
    output logic [18:0] result_addr,  // word
    output logic [31:0] result_wdata,  // data
    output card_shell_trace_t trace,  // events of this clock
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [3:0] {
    IDLE,
    OWN,  // wait for the banks
    HEAD,  // read the header
    DECIDE,  // decide on the message's circuit
    GIVE,  // pass the payload to the circuit
    DRAIN,  // wait for the end of the result
    ROUTE,  // decide on the result's destination
    WRITE,  // write the result's header
    SEND,  // job: send the result
    FREE,  // job: update the queue's read pointer
    LEAVE,  // wait for the grants to fall
    YIELD,  // wait for banks 2 and 3 only
    OPEN  // then wait for the incoming queue's bank
  } state_t;
  localparam logic [3:0] HEADER_WORDS = 4'd8;

  // ---------------------------------------------------------------- registers and tables
  state_t state_q;
  logic
      turn,
      there,
      paused,
      run,
      mail_valid,
      mail_taken,
      status_busy,
      is_control,
      no_such,
      settled,
      listed,
      refuse,
      ended,
      finished,
      to_send;
  logic [31:0] words[0:7];  // header and arguments
  card_header_t header;
  logic [3:0][31:0] to_arguments;
  logic [23:0] back0, back1, limit, front, next;
  logic [15:0] self, control_handler, error_handler, handler, place_handler;
  logic [7:0] channel, clock_divisor, mail, listed_circuit;
  logic [31:0] place;
  logic given, taken;  // strobes: a result is complete; a message is finished
  logic refused;  // with `taken`: the message had no circuit
  card_purpose_t purpose_q;
  assign refused = purpose_q == PURPOSE_REFUSAL || purpose_q == PURPOSE_NO_ENTRY;
  // Phases of a message, for the parts.
  logic is_idle, reads_header, reads_payload, reads, has_result, sets_entry, writes_header;
  assign is_idle = state_q == IDLE;
  assign reads_header = state_q == HEAD;
  assign reads_payload = state_q == GIVE;
  assign reads = reads_header || state_q == DECIDE || reads_payload;
  assign has_result = reads_payload || state_q == DRAIN || state_q == ROUTE || state_q == WRITE || state_q == SEND;
  assign writes_header = state_q == WRITE;
  assign sets_entry = ce && state_q == DECIDE && is_control && !refuse;
  assign f_ready = 1'b1;
  assign header = {words[3], words[2], words[1], words[0]};
  assign handler = header.handler;
  myri_card_tables u_tables (
      .w_valid(f_valid),
      .w_addr(f_word.addr),
      .w_data(f_word.data),
      .set_valid(sets_entry),
      .idle(is_idle),
      .set_circuit(words[4][7:0]),
      .set_place(words[5]),
      .set_handler(words[6][15:0]),
      .asked(circuit),
      .clk,
      .rst,
      .back0,
      .back1,
      .limit,
      .self,
      .channel,
      .run,
      .clock_divisor,
      .wanted,
      .exists,
      .image,
      .no_such,
      .settled,
      .control_handler,
      .error_handler,
      .mail_valid,
      .mail,
      .mail_taken,
      .handler,
      .listed,
      .listed_circuit,
      .place,
      .place_handler
  );
  myri_card_status u_status (
      .idle(is_idle),
      .busy(status_busy),
      .clk,
      .rst,
      .run,
      .image,
      .no_such,
      .mail_valid,
      .mail,
      .mail_taken,
      .paused,
      .taken,
      .refused,
      .given,
      .s_valid,
      .s_ready,
      .s_word
  );

  // ---------------------------------------------------------------- current message
  logic [15:0] count;
  logic may_begin, waiting, held_q, out_free_q;
  logic [7:0] held_image_q, divided_q;
  assign may_begin = run && there && !paused && settled && out_free_q && image != '0 &&
      !(held_q && image == held_image_q);
  assign waiting = may_begin || (mail_valid && image != '0);
  assign count = header.words;
  assign arguments = {words[7], words[6], words[5], words[4]};
  assign is_control = handler == control_handler;
  assign circuit = is_control ? words[4][7:0] : listed_circuit;
  myri_card_queues u_queues (
      .step(taken),
      .clk,
      .rst,
      .back0,
      .back1,
      .limit,
      .count,
      .turn,
      .front,
      .there,
      .next
  );

  assign ce = divided_q == '0;
  always_ff @(posedge clk) begin
    if (rst) divided_q <= '0;
    else if (state_q == IDLE && !waiting) divided_q <= '0;
    else divided_q <= ce ? clock_divisor : divided_q - 8'd1;
  end

  // ---------------------------------------------------------------- payload words
  logic r_valid, last_word;
  logic [31:0] r_data;
  logic [ 3:0] index_q;  // words of the header received
  logic [15:0] left_q;  // words of the payload still to pass on
  assign last_word = left_q <= 16'd1;
  assign head_bank = turn;
  myri_card_reader u_reader (
      .open(reads),
      .upto(reads_payload ? {1'b0, count} + 17'(HEADER_WORDS) : 17'(HEADER_WORDS)),
      .valid(r_valid),
      .ready(reads_header || in_ready),
      .data(r_data),
      .mem_read(head_valid),
      .mem_addr(head_addr),
      .mem_rdata(head_rdata),
      .clk,
      .rst,
      .ce,
      .front
  );
  always_ff @(posedge clk) begin
    if (rst) begin
      index_q <= '0;
      left_q  <= '0;
    end else if (ce) begin
      if (state_q != HEAD) index_q <= '0;
      else if (r_valid) index_q <= index_q + 4'd1;
      if (state_q == DECIDE) left_q <= count;
      else if (in_valid && in_ready) left_q <= left_q - 16'd1;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) for (int i = 0; i < 8; i++) words[i] <= '0;
    else if (ce && state_q == HEAD && r_valid)
      words[index_q[2:0]] <= {r_data[7:0], r_data[15:8], r_data[23:16], r_data[31:24]};
  end
  assign active   = state_q == GIVE || state_q == DRAIN ? 4'd1 << slot : 4'd0;
  assign in_valid = state_q == GIVE && (r_valid || count == '0);
  assign in_last  = last_word;
  assign in_data  = r_data;
  assign in_bytes = count == '0 ? 3'd0 : last_word ? 3'd4 - {1'b0, header.correction} : 3'd4;

  // ---------------------------------------------------------------- sequence of a message
  logic [3:0] banks, reading;
  logic [3:0] waited_q;  // user clocks in OWN
  assign banks   = {2'b11, turn, !turn};
  assign reading = {2'b00, turn, !turn};
  assign refuse  = !known || (is_control ? words[4][31:8] != '0 : !listed);
  always_ff @(posedge clk) begin
    if (rst) state_q <= IDLE;
    else if (ce) begin
      case (state_q)
        IDLE: if (may_begin) state_q <= OWN;
        OWN:
        if ((granted & banks) == banks) state_q <= HEAD;
        else if (waited_q == '1) state_q <= YIELD;
        YIELD: if (granted == 4'b1100) state_q <= OPEN;
        OPEN: if ((granted & banks) == banks) state_q <= HEAD;
        HEAD: if (r_valid && index_q == HEADER_WORDS - 4'd1) state_q <= DECIDE;
        DECIDE:
        if (is_control || refuse) state_q <= ROUTE;
        else if (!here) state_q <= LEAVE;
        else state_q <= GIVE;
        GIVE: if (in_valid && in_ready && last_word) state_q <= DRAIN;
        DRAIN: if (ended) state_q <= ROUTE;
        ROUTE: state_q <= to_send ? WRITE : FREE;
        WRITE: if (finished) state_q <= SEND;
        SEND: if (job_ready) state_q <= FREE;
        FREE: if (job_ready) state_q <= LEAVE;
        LEAVE: if (granted == '0) state_q <= IDLE;
        default: state_q <= IDLE;
      endcase
    end
  end
  always_ff @(posedge clk) begin
    if (rst || state_q != OWN) waited_q <= '0;
    else if (ce) waited_q <= waited_q + 4'd1;
  end
  always_comb begin
    case (state_q)
      OWN, OPEN, HEAD, DECIDE, GIVE: want = banks;
      YIELD, DRAIN, ROUTE, WRITE: want = banks & ~reading;
      default: want = '0;
    endcase
  end
  always_ff @(posedge clk) begin
    if (rst) purpose_q <= PURPOSE_CIRCUIT;
    else if (ce && state_q == DECIDE) begin
      case ({
        is_control, refuse
      })
        2'b00:   purpose_q <= PURPOSE_CIRCUIT;
        2'b01:   purpose_q <= PURPOSE_REFUSAL;
        2'b10:   purpose_q <= PURPOSE_TABLE;
        default: purpose_q <= PURPOSE_NO_ENTRY;
      endcase
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      held_q <= 1'b0;
      held_image_q <= '0;
    end else if (ce && state_q == DECIDE) begin
      held_q <= !is_control && !refuse && !here;
      held_image_q <= image;
    end
  end

  // ---------------------------------------------------------------- the result
  logic [15:0] to, to_handler;
  logic [ 7:0] to_channel;
  logic [23:0] slot_bytes;
  myri_card_route u_route (
      .source(header.source),
      .source_channel(header.channel),
      .first_word(header.first),
      .send(to_send),
      .place,
      .place_handler,
      .error_handler,
      .self,
      .handler,
      .arguments,
      .to,
      .to_channel,
      .to_handler,
      .to_arguments,
      .purpose(purpose_q)
  );
  myri_card_writer u_writer (
      .open(has_result),
      .in_valid(out_valid),
      .in_ready(out_ready),
      .in_last(out_last),
      .in_bytes(out_bytes),
      .in_data(out_data),
      .finish(writes_header),
      .source(self),
      .handler(to_handler),
      .arguments(to_arguments),
      .slot(slot_bytes),
      .mem_valid(result_valid),
      .mem_addr(result_addr),
      .mem_wdata(result_wdata),
      .clk,
      .rst,
      .ce,
      .ended,
      .channel,
      .to,
      .to_channel,
      .finished
  );

  // ---------------------------------------------------------------- jobs
  assign job_valid = ce && (state_q == SEND || state_q == FREE);
  assign job.kind  = state_q == SEND ? JOB_RESULT : turn ? JOB_READ1 : JOB_READ0;
  assign job.value = state_q == SEND ? slot_bytes : next;
  assign given     = job_valid && job_ready && state_q == SEND;
  assign taken     = job_valid && job_ready && state_q == FREE;
  always_ff @(posedge clk) begin
    if (rst) out_free_q <= 1'b1;
    else if (sent) out_free_q <= 1'b1;
    else if (given) out_free_q <= 1'b0;
  end

  // ---------------------------------------------------------------- trace, sleep
  assign trace.take = ce && state_q == DECIDE && !refuse && !is_control && here;
  assign trace.give = given;
  assign trace.key = header.first;
  assign busy    = state_q != IDLE || waiting || !settled || f_valid || status_busy || sent || divided_q != '0;

  logic unused;
  assign unused = &{1'b0, header};
endmodule
