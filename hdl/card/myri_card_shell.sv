// Message shell of the FPGA: takes messages alternately from the two incoming queues, passes each to its circuit, and
// sends the result as the circuit's forwarding entry says.
//
// A message is started only when its result has room (bank 2 is free), so a full outgoing queue never holds a bank of
// an incoming queue. The incoming bank is released while other banks are awaited, and as soon as its last word is read.
// The NIC may then fill it while the circuit works, and a host that holds another bank does not keep the NIC from it.
// A message for a circuit that is not loaded, but is part of an image, stays in its queue until a slot is loaded; the
// bank is released meanwhile. A message for an unknown handler, and a control message for an unknown
// circuit, are answered with an error to the source. Slots change between two messages, never during one.
// Control messages set forwarding entries: arguments {circuit, place, handler, handler of the answer or 0}.
//
// A message longer than a segment arrives as messages of type CARD_SEGMENT, which the NIC accepts from one sender at a
// time. The circuit gets their payloads as one message, and keeps it (`begun_q`) while the banks are free between two
// segments. A segment that continues no message is dropped. A new message ends one that its sender has left unfinished:
// the circuit gets a last word of 0 bytes, and its result is dropped. So does a segment that exceeds the length that the
// circuit accepts; the source gets an error, and the rest of the message is dropped.
// A result longer than a segment leaves in segments. The shell releases all banks while bank 2 is copied, and then
// resumes the message.
// Timing: ten user clocks for header and look-up, one per payload word that the circuit accepts, eight for the header
// of a result or of a segment of it. No register but those of the crossings changes without `ce`.
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
    output logic [31:0] images,  // image of each slot, slot 0 in the low bits; 0 = empty
    output logic [7:0] circuit,  // number of the circuit to look up
    input logic known,  // some image contains it
    input logic here,  // a slot has it ...
    input logic [1:0] slot,  // ... this one
    input logic [24:0] most,  // bytes of the longest message that it accepts
    input logic working,  // a circuit needs clock edges
    output logic [CARD_SLOTS-1:0] active,  // active slot
    output logic lends,  // 1 = the active slot may access bank 3
    output logic midway,  // 1 = a message is in the active slot, but the banks may be released
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
  typedef enum logic [4:0] {
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
    OPEN,  // then wait for the incoming queue's bank
    SETTLE,  // let the last reads of the banks finish
    PART,  // wait until the segment of the result is copied
    END,  // end the unfinished message in the circuit
    DISCARD  // drop its result
  } state_t;
  typedef enum logic [1:0] {
    RESUME_NONE,
    RESUME_GIVE,
    RESUME_DRAIN
  } resume_t;
  localparam logic [3:0] HEADER_WORDS = 4'd8;

  // ---------------------------------------------------------------- registers and tables
  state_t state_q;
  resume_t resume_q;  // state in which a message continues that a segment of its result has interrupted
  logic interrupted, opens_bank;
  assign interrupted = resume_q != RESUME_NONE;
  logic
      turn,
      there,
      paused,
      run,
      mail_valid,
      mail_taken,
      status_busy,
      is_control,
      configured,
      changed,
      settled,
      listed,
      refuse,
      stale,
      too_long,
      is_part,
      continues,
      more,
      full,
      ended,
      finished,
      to_send;
  logic [31:0] words[0:7];  // header and arguments
  card_header_t header;
  logic [3:0][31:0] to_arguments;
  logic [23:0] back0, back1, limit, front, next;
  logic [15:0] segment_bytes, self, control_handler, error_handler, handler, place_handler;
  logic [7:0] channel, clock_divisor, mail, listed_circuit;
  logic [31:0] place;
  logic
      given,
      taken;  // strobes: a segment of a result is complete; a message of the queue is finished
  logic refused;  // with `taken`: the message had no circuit
  logic counted;  // with `taken`: a message is finished, not only a segment
  logic begun_q;  // a message is in the circuit
  logic dropped_q;  // the segment continues no message
  logic [1:0] slot_q;  // slot of the message in the circuit
  logic [3:0][31:0] arguments_q;  // its arguments
  logic [23:0] owner_q;  // its source and channel
  card_purpose_t purpose_q;
  assign refused = purpose_q != PURPOSE_CIRCUIT && purpose_q != PURPOSE_TABLE;
  assign counted = !dropped_q && (!more || refused);
  // Phases of a message, for the parts.
  logic is_idle, decides, reads_header, reads_payload, reads, has_result, sets_entry, writes_header;
  logic accepts;  // the result of the circuit is accepted
  assign is_idle = state_q == IDLE;
  assign reads_header = state_q == HEAD;
  assign decides = state_q == DECIDE;
  assign reads_payload = state_q == GIVE;
  assign reads = reads_header || decides || reads_payload || resume_q == RESUME_GIVE;
  assign accepts = reads_payload || state_q == DRAIN || state_q == END || state_q == DISCARD;
  assign has_result = begun_q || state_q == ROUTE || state_q == WRITE || state_q == SEND;
  assign writes_header = state_q == WRITE;
  assign sets_entry = ce && decides && is_control && !refuse && !stale && !begun_q;
  assign f_ready = 1'b1;
  assign header = {words[3], words[2], words[1], words[0]};
  assign handler = header.handler;
  myri_card_tables u_tables (
      .w_valid(f_valid),
      .w_addr(f_word.addr),
      .w_data(f_word.data),
      .set_valid(sets_entry),
      .idle(is_idle && !begun_q),
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
      .segment_bytes,
      .images,
      .configured,
      .settled,
      .changed,
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
      .idle (is_idle),
      .busy (status_busy),
      .clk,
      .rst,
      .run,
      .images,
      .configured,
      .changed,
      .mail_valid,
      .mail,
      .mail_taken,
      .paused,
      .taken(taken && counted),
      .refused,
      .given(given && !interrupted),
      .s_valid,
      .s_ready,
      .s_word
  );

  // ---------------------------------------------------------------- current message
  logic [15:0] count;
  logic may_begin, waiting, held_q, out_free_q;
  logic [ 7:0] divided_q;
  logic [31:0] held_images_q;
  assign may_begin = run && there && (begun_q || (!paused && settled)) && out_free_q && configured &&
      !(held_q && images == held_images_q);
  assign waiting = may_begin || (mail_valid && configured);
  assign count = header.words;
  assign arguments = begun_q ? arguments_q : {words[7], words[6], words[5], words[4]};
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
    else if (state_q == IDLE && !waiting && !(begun_q && working)) divided_q <= '0;
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
      .upto(reads_header || decides ? 17'(HEADER_WORDS) : {1'b0, count} + 17'(HEADER_WORDS)),
      .halt(!reads_header && !reads_payload),
      .valid(r_valid),
      .ready(reads_header || (reads_payload && in_ready)),
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
      if (decides) left_q <= count;
      else if (reads_payload && in_valid && in_ready) left_q <= left_q - 16'd1;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) for (int i = 0; i < 8; i++) words[i] <= '0;
    else if (ce && state_q == HEAD && r_valid)
      words[index_q[2:0]] <= {r_data[7:0], r_data[15:8], r_data[23:16], r_data[31:24]};
  end
  assign active   = begun_q ? 4'd1 << slot_q : 4'd0;
  assign lends    = accepts;
  assign midway   = begun_q && !accepts;
  assign in_valid = state_q == END || (reads_payload && (r_valid || count == '0));
  assign in_last  = state_q == END || (last_word && !more);
  assign in_data  = r_data;
  always_comb begin
    in_bytes = last_word ? 3'd4 - {1'b0, header.correction} : 3'd4;
    if (count == '0 || state_q == END) in_bytes = 3'd0;
  end

  // ---------------------------------------------------------------- long messages
  logic [24:0] total_q, total;  // bytes of the message before the segment, and with it
  logic interrupts;  // the result exceeds the segment
  logic last_given;  // the circuit accepts the last word of the segment
  logic
      ends,
      leaves,
      gives;  // decisions: end the message in the circuit; wait for another image; use the circuit
  assign last_given = in_valid && in_ready && last_word;
  assign ends = !stale && begun_q && (!continues || too_long);
  assign leaves = !stale && !ends && !is_control && !refuse && !here;
  assign gives = !stale && !ends && !is_control && !refuse && here && !too_long && !(more && count == '0);
  assign is_part = header.kind == MESSAGE_CARD_SEGMENT;
  assign continues = is_part && header.tree[0];
  assign more = is_part && header.tree[1];
  assign stale = continues && !(begun_q && listed && here && slot == slot_q && owner_q == {
    header.source, header.channel
  });
  assign total = (continues ? total_q : '0) + {7'd0, count, 2'd0} - {23'd0, header.correction};
  assign too_long = total > most;
  assign interrupts = full && out_valid && out_bytes != '0;
  always_ff @(posedge clk) begin
    if (rst) begin
      begun_q <= 1'b0;
      slot_q <= '0;
      arguments_q <= '0;
      owner_q <= '0;
      total_q <= '0;
    end else if (ce) begin
      if (decides && gives) begin
        begun_q <= 1'b1;
        slot_q <= slot;
        arguments_q <= arguments;
        owner_q <= {header.source, header.channel};
        total_q <= total;
      end
      if ((state_q == DRAIN || state_q == DISCARD) && ended) begun_q <= 1'b0;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) dropped_q <= 1'b0;
    else if (ce && decides) dropped_q <= stale;
  end
  always_ff @(posedge clk) begin
    if (rst) resume_q <= RESUME_NONE;
    else if (ce) begin
      if (state_q == GIVE && interrupts && !last_given) resume_q <= RESUME_GIVE;
      if (state_q == DRAIN && interrupts && !ended) resume_q <= RESUME_DRAIN;
      if (opens_bank && (state_q == OWN || state_q == OPEN)) resume_q <= RESUME_NONE;
    end
  end

  // ---------------------------------------------------------------- sequence of a message
  logic [3:0] banks, reading;
  logic [3:0] waited_q;  // user clocks in OWN
  state_t opened;  // state after the banks are granted
  assign banks = {2'b11, turn, !turn};
  assign reading = {2'b00, turn, !turn};
  assign opens_bank = (granted & banks) == banks;
  assign refuse = !known || (is_control ? words[4][31:8] != '0 : !listed);
  always_comb begin
    case (resume_q)
      RESUME_GIVE: opened = GIVE;
      RESUME_DRAIN: opened = DRAIN;
      default: opened = HEAD;
    endcase
  end
  always_ff @(posedge clk) begin
    if (rst) state_q <= IDLE;
    else if (ce) begin
      case (state_q)
        IDLE: if (may_begin) state_q <= OWN;
        OWN:
        if (opens_bank) state_q <= opened;
        else if (waited_q == '1) state_q <= YIELD;
        YIELD: if (granted == 4'b1100) state_q <= OPEN;
        OPEN: if (opens_bank) state_q <= opened;
        HEAD: if (r_valid && index_q == HEADER_WORDS - 4'd1) state_q <= DECIDE;
        DECIDE:
        if (stale) state_q <= FREE;
        else if (ends) state_q <= END;
        else if (is_control || refuse) state_q <= ROUTE;
        else if (!here) state_q <= LEAVE;
        else if (too_long) state_q <= ROUTE;
        else if (more && count == '0) state_q <= FREE;
        else state_q <= GIVE;
        GIVE:
        if (last_given && !more) state_q <= DRAIN;
        else if (interrupts || last_given) state_q <= SETTLE;
        DRAIN:
        if (ended) state_q <= ROUTE;
        else if (interrupts) state_q <= SETTLE;
        SETTLE:
        if (interrupted) state_q <= ROUTE;
        else state_q <= FREE;
        ROUTE:
        if (to_send) state_q <= WRITE;
        else if (interrupted) state_q <= PART;
        else state_q <= FREE;
        WRITE: if (finished) state_q <= SEND;
        SEND:
        if (job_ready && interrupted) state_q <= PART;
        else if (job_ready) state_q <= FREE;
        PART: if (out_free_q && granted == '0) state_q <= OWN;
        END: if (in_ready) state_q <= DISCARD;
        DISCARD:
        if (ended && purpose_q == PURPOSE_TOO_LONG) state_q <= ROUTE;
        else if (ended) state_q <= LEAVE;
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
      SETTLE: want = resume_q == RESUME_GIVE ? banks : banks & ~reading;
      YIELD, DRAIN, ROUTE, WRITE, END, DISCARD: want = banks & ~reading;
      default: want = '0;
    endcase
  end
  always_ff @(posedge clk) begin
    if (rst) purpose_q <= PURPOSE_CIRCUIT;
    else if (ce && decides) begin
      case ({
        is_control, refuse
      })
        2'b00:   purpose_q <= PURPOSE_CIRCUIT;
        2'b01:   purpose_q <= PURPOSE_REFUSAL;
        2'b10:   purpose_q <= PURPOSE_TABLE;
        default: purpose_q <= PURPOSE_NO_ENTRY;
      endcase
      if (!is_control && !refuse && here && too_long) purpose_q <= PURPOSE_TOO_LONG;
      if (stale || (begun_q && !continues)) purpose_q <= PURPOSE_CIRCUIT;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      held_q <= 1'b0;
      held_images_q <= '0;
    end else if (ce && decides) begin
      held_q <= leaves;
      held_images_q <= images;
    end
  end

  // ---------------------------------------------------------------- the result
  logic [15:0] to, to_handler;
  logic [7:0] to_channel, to_tree;
  logic [5:0] to_kind;
  logic parted_q;  // a segment of the result has been sent
  logic [31:0] offset_q;  // bytes of the segments before
  logic next_segment;
  logic [23:0] slot_bytes;
  logic [17:0] result_count;
  logic [3:0][31:0] result_words;
  logic bare;
  myri_card_route u_route (
      .count(result_count),
      .words(result_words),
      .bare,
      .send(to_send),
      .more(interrupted),
      .parted(parted_q),
      .offset(offset_q),
      .total,
      .most,
      .header,
      .place,
      .place_handler,
      .error_handler,
      .self,
      .arguments,
      .to,
      .to_channel,
      .to_handler,
      .to_kind,
      .to_tree,
      .to_arguments,
      .purpose(purpose_q)
  );
  logic writer_ready;
  assign out_ready = writer_ready && accepts;
  // Another segment begins when one is copied or dropped, and an error after a discarded result.
  assign next_segment = state_q == PART || (state_q == END && full) || (state_q == DISCARD && (full || ended));
  always_ff @(posedge clk) begin
    if (rst) begin
      parted_q <= 1'b0;
      offset_q <= '0;
    end else if (ce) begin
      if (decides && gives && !continues) begin
        parted_q <= 1'b0;
        offset_q <= '0;
      end else if (interrupted && (state_q == SEND ? job_ready : state_q == ROUTE && !to_send)) begin
        parted_q <= 1'b1;
        offset_q <= offset_q + {14'd0, result_count};
      end
    end
  end
  myri_card_writer u_writer (
      .open(has_result),
      .in_valid(out_valid && accepts),
      .in_ready(writer_ready),
      .in_last(out_last),
      .in_bytes(out_bytes),
      .in_data(out_data),
      .finish(writes_header),
      .source(self),
      .handler(to_handler),
      .kind(to_kind),
      .tree(to_tree),
      .arguments(to_arguments),
      .bare,
      .most(segment_bytes),
      .next(next_segment),
      .full,
      .count(result_count),
      .first(result_words),
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
  logic opens;  // the segment is the first of a long message to another card
  assign opens = to_kind == MESSAGE_CARD_SEGMENT && !to_tree[0];
  assign job.kind  = state_q == SEND ? (opens ? JOB_FIRST : JOB_RESULT) : turn ? JOB_READ1 : JOB_READ0;
  assign job.value = state_q == SEND ? slot_bytes : next;
  assign given = job_valid && job_ready && state_q == SEND;
  assign taken = job_valid && job_ready && state_q == FREE;
  always_ff @(posedge clk) begin
    if (rst) out_free_q <= 1'b1;
    else if (sent) out_free_q <= 1'b1;
    else if (given) out_free_q <= 1'b0;
  end

  // ---------------------------------------------------------------- trace, sleep
  assign trace.take = ce && decides && gives && !more;
  assign trace.give = given && !parted_q;
  assign trace.key = header.first;
  assign busy    = state_q != IDLE || waiting || !settled || f_valid || status_busy || sent || divided_q != '0 ||
      (begun_q && working);

  logic unused;
  assign unused = &{1'b0, header};
endmodule
