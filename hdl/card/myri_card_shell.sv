// The message shell of the FPGA: takes messages from the two incoming queues by turns, gives each to its circuit, sends
// what comes out where the circuit's forwarding entry says.
//
// A message is begun only when its result has room (bank 2 is free), so a full way out never keeps a bank of the way in.
// A message for a circuit that is not loaded now, but belongs to an image, stays in its queue until another image is
// loaded; the bank is given back meanwhile. One for a handler that no circuit has is answered to its source.
// Control messages set forwarding entries: arguments {circuit, place, handler, handler of the answer or 0}.
// Timing: eleven user clocks of header and look-up, two a word of payload, eight for the header of a result; nothing
// moves without `ce`, crossings apart.
module myri_card_shell
  import myri_card_pkg::*;
(
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    output logic ce,  // clock enable of the user clock
    input logic f_valid,  // a register is written
    output logic f_ready,  // taken
    input logic [7:0] f_addr,  // CardReg
    input logic [31:0] f_data,  // value
    output logic s_valid,  // status word for the bus side
    input logic s_ready,  // taken
    output logic [2:0] s_index,  // STATUS_...
    output logic [31:0] s_value,  // value
    output logic job_valid,  // job for the uplink
    input logic job_ready,  // taken
    output logic [1:0] job_kind,  // see myri_card_uplink
    output logic [23:0] job_value,  // see myri_card_uplink
    input logic sent,  // strobe: the result is in the NIC
    output logic [3:0] want,  // banks asked for
    input logic [3:0] granted,  // banks that are ours
    output logic [7:0] image,  // loaded image, 0 = none
    output logic [7:0] circuit,  // asks: where is this circuit
    input logic known,  // some image has it
    input logic here,  // the loaded image has it ...
    input logic [1:0] slot,  // ... in this slot
    output logic [CARD_SLOTS-1:0] active,  // the slot in use
    output logic [127:0] arguments,  // of the message
    output logic in_valid,  // word for the slot in use
    input logic in_ready,  // taken
    output logic in_last,  // the last of its message
    output logic [2:0] in_bytes,  // bytes in it
    output logic [31:0] in_data,  // it
    input logic out_valid,  // word from the slot in use
    output logic out_ready,  // taken
    input logic out_last,  // the last of its message
    input logic [2:0] out_bytes,  // bytes in it
    input logic [31:0] out_data,  // it
    output logic head_valid,  // read of an incoming queue
    output logic head_bank,  // bank 0 or 1
    output logic [18:0] head_addr,  // word
    input logic [31:0] head_rdata,  // data, from the clock after on
    output logic result_valid,  // write of bank 2
    output logic [18:0] result_addr,  // word
    output logic [31:0] result_wdata,  // data
    output logic tr_take,  // strobe: a message is given to its circuit
    output logic tr_give,  // strobe: its result is written
    output logic [31:0] tr_key,  // first word of the message, with both
    output logic busy  // needs another edge
);
  localparam logic [3:0] IDLE = 4'd0;
  localparam logic [3:0] OWN = 4'd1;  // waits for the banks
  localparam logic [3:0] HEAD = 4'd2;  // reads the header
  localparam logic [3:0] DECIDE = 4'd3;  // whose is it
  localparam logic [3:0] READ = 4'd4;  // reads a word of the payload
  localparam logic [3:0] GIVE = 4'd5;  // offers it
  localparam logic [3:0] DRAIN = 4'd6;  // waits for the end of the result
  localparam logic [3:0] ROUTE = 4'd7;  // where does it go
  localparam logic [3:0] WRITE = 4'd8;  // its header
  localparam logic [3:0] SEND = 4'd9;  // job: the result
  localparam logic [3:0] FREE = 4'd10;  // job: the queue is read up to here
  localparam logic [3:0] LEAVE = 4'd11;  // waits for the grants to fall
  localparam logic [1:0] TO_CIRCUIT = 2'd0;
  localparam logic [1:0] TO_TABLE = 2'd1;
  localparam logic [1:0] TO_SOURCE = 2'd2;  // an error

  logic [3:0] state;
  logic turn, held, paused, out_free, beat, taken;
  logic [7:0] held_image;
  logic [23:0] front0, front1, front, back, end_of, next_front;
  logic [3:0] banks;
  logic [3:0] index;  // word of the header
  logic [31:0] words[0:7];
  logic [1:0] purpose;
  logic [15:0] left;  // words of the payload to read
  logic [17:0] at;  // bytes of the message read

  // ---------------------------------------------------------------- registers and tables
  logic [23:0] back0, back1, limit;
  logic [15:0] self, control_handler, error_handler, place_handler;
  logic [7:0] channel, clock_divisor, mail, divided;
  logic run, mail_valid, mail_taken, listed, set_valid;
  logic [31:0] place;
  assign f_ready = 1'b1;
  myri_card_tables u_tables (
      .clk,
      .rst,
      .w_valid(f_valid),
      .w_addr(f_addr),
      .w_data(f_data),
      .back0,
      .back1,
      .limit,
      .self,
      .channel,
      .run,
      .clock_divisor,
      .image,
      .control_handler,
      .error_handler,
      .mail_valid,
      .mail,
      .mail_taken,
      .handler(words[3][15:0]),
      .listed,
      .circuit,
      .set_valid,
      .set_circuit(words[4][7:0]),
      .set_place(words[5]),
      .set_handler(words[6][15:0]),
      .asked(circuit),
      .place,
      .place_handler
  );

  // ---------------------------------------------------------------- user clock
  assign ce = divided == '0;
  always_ff @(posedge clk) begin
    if (rst) divided <= '0;
    else if (state == IDLE && !waiting) divided <= '0;
    else divided <= ce ? clock_divisor : divided - 8'd1;
  end

  // ---------------------------------------------------------------- the message
  logic [31:0] word;
  logic [15:0] count;
  logic [ 1:0] correction;
  logic there, may_begin, waiting, is_control, last_word;
  assign front = turn ? front1 : front0;
  assign back = turn ? back1 : back0;
  assign there = run && front != back;
  assign may_begin = there && !paused && out_free && image != '0 && !(held && image == held_image);
  assign waiting = may_begin || mail_valid;
  assign banks = {2'b11, turn, !turn};
  assign word = {head_rdata[7:0], head_rdata[15:8], head_rdata[23:16], head_rdata[31:24]};
  assign count = words[2][31:16];
  assign correction = words[1][25:24];
  assign arguments = {words[7], words[6], words[5], words[4]};
  assign is_control = words[3][15:0] == control_handler;
  assign end_of = front + 24'd32 + {5'd0, 16'((count + 16'd1) >> 1), 3'd0};
  assign next_front = end_of < limit ? end_of : '0;
  assign last_word = left <= 16'd1;

  assign head_bank = turn;
  assign head_addr = 19'((front + {6'd0, at}) >> 2);
  logic ahead;  // the next word is read while this one is taken
  assign ahead = state == GIVE && in_ready && !last_word;
  assign head_valid = ce && !beat && (state == HEAD || ahead || (state == READ && left != '0));

  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else if (ce) begin
      case (state)
        IDLE: if (may_begin) state <= OWN;
        OWN: if ((granted & banks) == banks) state <= HEAD;
        HEAD: if (beat && index == 4'd7) state <= DECIDE;
        DECIDE:
        if (is_control || !listed || !known) state <= ROUTE;
        else if (!here) state <= LEAVE;
        else state <= READ;
        READ: if (beat || left == '0) state <= GIVE;
        GIVE: if (in_ready) state <= last_word ? DRAIN : READ;
        DRAIN: if (ended) state <= ROUTE;
        ROUTE: state <= to_send ? WRITE : FREE;
        WRITE: if (finished) state <= SEND;
        SEND: if (job_ready) state <= FREE;
        FREE: if (job_ready) state <= LEAVE;
        LEAVE: if (granted == '0) state <= IDLE;
        default: state <= IDLE;
      endcase
    end
  end
  assign want = state == IDLE || state == LEAVE || state == FREE || state == SEND ? 4'd0 : banks;

  always_ff @(posedge clk) begin
    if (rst) begin
      beat  <= 1'b0;
      index <= '0;
      at    <= '0;
      left  <= '0;
    end else if (ce) begin
      beat <= head_valid;
      if (state == OWN) begin
        index <= '0;
        at <= '0;
      end else if (beat) begin
        index <= index + 4'd1;
        at <= at + 18'd4;
      end
      if (state == DECIDE) left <= count;
      else if (state == GIVE && in_ready) left <= left - 16'd1;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) for (int i = 0; i < 8; i++) words[i] <= '0;
    else if (ce && state == HEAD && beat) words[index[2:0]] <= word;
  end

  // ---------------------------------------------------------------- to and from the slot
  logic ended, finished;
  logic [31:0] given;
  always_ff @(posedge clk) begin
    if (rst) given <= '0;
    else if (ce && state == READ && beat) given <= head_rdata;
  end
  assign active   = state == READ || state == GIVE || state == DRAIN ? 4'd1 << slot : 4'd0;
  assign in_valid = state == GIVE;
  assign in_last  = last_word;
  assign in_data  = given;
  assign in_bytes = count == '0 ? 3'd0 : last_word ? 3'd4 - {1'b0, correction} : 3'd4;

  // ---------------------------------------------------------------- where the result goes
  logic to_send, refuse;
  logic [15:0] to, to_handler;
  logic [  7:0] to_channel;
  logic [127:0] to_arguments;
  logic [  1:0] mode;
  logic [ 23:0] slot_bytes;
  assign mode = place[31:30];
  always_comb begin
    to = words[1][15:0];
    to_channel = words[3][31:24];
    to_handler = words[7][15:0];
    to_arguments = arguments;
    to_send = to_handler != '0;
    case (purpose)
      TO_TABLE: ;
      TO_SOURCE: begin
        to_handler = error_handler;
        to_arguments = {
          words[0], {16'd0, self}, {16'd0, words[3][15:0]}, 32'(CARD_UNKNOWN_CIRCUIT)
        };
        to_send = error_handler != '0;
      end
      default: begin
        to_send = mode == FORWARD_REPLY;
        if (mode == FORWARD_ENDPOINT) begin
          to = place[15:0];
          to_channel = place[23:16];
          to_handler = place_handler;
          to_send = 1'b1;
        end
      end
    endcase
  end
  assign refuse = !is_control && (!listed || !known);
  assign set_valid = ce && state == DECIDE && is_control;
  always_ff @(posedge clk) begin
    if (rst) purpose <= TO_CIRCUIT;
    else if (ce && state == DECIDE)
      purpose <= is_control ? TO_TABLE : refuse ? TO_SOURCE : TO_CIRCUIT;
  end

  myri_card_writer u_writer (
      .clk,
      .rst,
      .ce,
      .open(state == READ || state == GIVE || state == DRAIN || state == ROUTE || state == WRITE || state == SEND),
      .in_valid(out_valid),
      .in_ready(out_ready),
      .in_last(out_last),
      .in_bytes(out_bytes),
      .in_data(out_data),
      .ended,
      .finish(state == WRITE),
      .source(self),
      .channel,
      .to,
      .to_channel,
      .handler(to_handler),
      .arguments(to_arguments),
      .finished,
      .slot(slot_bytes),
      .mem_valid(result_valid),
      .mem_addr(result_addr),
      .mem_wdata(result_wdata)
  );

  // ---------------------------------------------------------------- jobs, positions
  always_comb begin
    job_kind  = turn ? 2'd2 : 2'd1;
    job_value = next_front;
    if (state == SEND) begin
      job_kind  = 2'd0;
      job_value = slot_bytes;
    end
  end
  assign job_valid = ce && (state == SEND || state == FREE);

  always_ff @(posedge clk) begin
    if (rst) begin
      front0 <= '0;
      front1 <= '0;
      turn   <= 1'b0;
    end else if (job_valid && job_ready && state == FREE) begin
      if (turn) front1 <= next_front;
      else front0 <= next_front;
      turn <= !turn;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) out_free <= 1'b1;
    else if (sent) out_free <= 1'b1;
    else if (job_valid && job_ready && state == SEND) out_free <= 1'b0;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      held <= 1'b0;
      held_image <= '0;
    end else if (ce && state == DECIDE) begin
      held <= !is_control && listed && known && !here;
      held_image <= image;
    end
  end

  // ---------------------------------------------------------------- control mailbox, status words
  logic [31:0] messages, results, refusals;
  logic [6:0] news;  // status words to tell
  logic run_told;
  logic [7:0] image_told, answer;
  assign mail_taken = mail_valid && image != '0 && state == IDLE;
  always_ff @(posedge clk) begin
    if (rst) begin
      paused <= 1'b0;
      answer <= '0;
    end else if (mail_taken) begin
      answer <= mail;
      if (mail == COMMAND_PAUSE) paused <= 1'b1;
      if (mail == COMMAND_RESUME) paused <= 1'b0;
    end
  end
  assign taken = job_valid && job_ready && state == FREE;
  always_ff @(posedge clk) begin
    if (rst) begin
      messages <= '0;
      results  <= '0;
      refusals <= '0;
    end else begin
      if (taken) messages <= messages + 32'd1;
      if (job_valid && job_ready && state == SEND) results <= results + 32'd1;
      if (taken && purpose == TO_SOURCE) refusals <= refusals + 32'd1;
    end
  end
  always_comb begin
    s_index = STATUS_RUN;
    s_value = {31'd0, run};
    if (news[STATUS_IMAGE]) begin
      s_index = STATUS_IMAGE;
      s_value = {24'd0, image};
    end
    if (news[STATUS_MESSAGES]) begin
      s_index = STATUS_MESSAGES;
      s_value = messages;
    end
    if (news[STATUS_RESULTS]) begin
      s_index = STATUS_RESULTS;
      s_value = results;
    end
    if (news[STATUS_REFUSED]) begin
      s_index = STATUS_REFUSED;
      s_value = refusals;
    end
    if (news[STATUS_MAILBOX]) begin
      s_index = STATUS_MAILBOX;
      s_value = {24'd0, answer};
    end
    if (news[STATUS_CONTROL_READ]) s_index = STATUS_CONTROL_READ;
  end
  assign s_valid = news != '0;
  always_ff @(posedge clk) begin
    if (rst) begin
      news <= '0;
      run_told <= 1'b0;
      image_told <= '0;
    end else begin
      run_told   <= run;
      image_told <= image;
      if (s_valid && s_ready) news[s_index] <= 1'b0;
      if (run != run_told) news[STATUS_RUN] <= 1'b1;
      if (image != image_told) news[STATUS_IMAGE] <= 1'b1;
      if (taken) news[STATUS_MESSAGES] <= 1'b1;
      if (job_valid && job_ready && state == SEND) news[STATUS_RESULTS] <= 1'b1;
      if (taken && purpose == TO_SOURCE) news[STATUS_REFUSED] <= 1'b1;
      if (mail_taken) begin
        news[STATUS_MAILBOX] <= 1'b1;
        news[STATUS_CONTROL_READ] <= 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- trace, sleep
  assign tr_take = ce && state == DECIDE && !refuse && !is_control && here;
  assign tr_give = ce && job_valid && job_ready && state == SEND;
  assign tr_key = words[0];
  assign busy = state != IDLE || waiting || f_valid || news != '0 || sent || run != run_told || image != image_told
      || divided != '0;

  logic unused;
  assign unused = &{1'b0, words[1][31:26], words[1][23:16], place[29:24], words[3][23:16]};
endmodule
