// Status of the fabric for the bus side: mailbox answers, images, counts of messages. Also handles the control mailbox
// commands RESUME and PAUSE.
//
// Each changed word is reported as {index, value}, with the newest value if it has changed again meanwhile.
// Timing: a change is offered one clock later.
module myri_card_status
  import myri_card_pkg::*;
(
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    input logic run,  // see CardReg
    input logic [31:0] images,  // image of each slot, slot 0 in the low bits
    input logic configured,  // the whole device is loaded
    input logic changed,  // strobe: a change of slots has been made
    input logic idle,  // no message is being processed
    input logic mail_valid,  // a byte in the control mailbox
    input logic [7:0] mail,  // its value
    output logic mail_taken,  // the byte was read
    output logic paused,  // 1 = no new message is started
    input logic taken,  // strobe: a message is finished
    input logic refused,  // strobe, with `taken`: the message had no circuit
    input logic given,  // strobe: a result is written
    output logic s_valid,  // status word for the bus side
    input logic s_ready,  // accepted
    output card_report_t s_word,  // kind and value
    output logic busy  // 1 = a further clock edge is needed
);
  logic [6:0] news_q;  // status words to report
  logic run_told_q;
  logic [7:0] answer_q;
  logic [31:0] messages_q, results_q, refusals_q;
  assign mail_taken = mail_valid && configured && idle;
  assign s_valid = news_q != '0;
  assign busy = s_valid || run != run_told_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      paused   <= 1'b0;
      answer_q <= '0;
    end else if (mail_taken) begin
      answer_q <= mail;
      if (mail == COMMAND_PAUSE) paused <= 1'b1;
      if (mail == COMMAND_RESUME) paused <= 1'b0;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      messages_q <= '0;
      results_q  <= '0;
      refusals_q <= '0;
    end else begin
      if (taken) messages_q <= messages_q + 32'd1;
      if (given) results_q <= results_q + 32'd1;
      if (taken && refused) refusals_q <= refusals_q + 32'd1;
    end
  end

  always_comb begin
    s_word.index = STATUS_RUN;
    s_word.value = {31'd0, run};
    if (news_q[STATUS_IMAGE]) begin
      s_word.index = STATUS_IMAGE;
      s_word.value = images;
    end
    if (news_q[STATUS_MESSAGES]) begin
      s_word.index = STATUS_MESSAGES;
      s_word.value = messages_q;
    end
    if (news_q[STATUS_RESULTS]) begin
      s_word.index = STATUS_RESULTS;
      s_word.value = results_q;
    end
    if (news_q[STATUS_REFUSED]) begin
      s_word.index = STATUS_REFUSED;
      s_word.value = refusals_q;
    end
    if (news_q[STATUS_MAILBOX]) begin
      s_word.index = STATUS_MAILBOX;
      s_word.value = {24'd0, answer_q};
    end
    if (news_q[STATUS_CONTROL_READ]) s_word.index = STATUS_CONTROL_READ;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      news_q <= '0;
      run_told_q <= 1'b0;
    end else begin
      run_told_q <= run;
      if (s_valid && s_ready) news_q[s_word.index] <= 1'b0;
      if (run != run_told_q) news_q[STATUS_RUN] <= 1'b1;
      if (changed) news_q[STATUS_IMAGE] <= 1'b1;
      if (taken) news_q[STATUS_MESSAGES] <= 1'b1;
      if (given) news_q[STATUS_RESULTS] <= 1'b1;
      if (taken && refused) news_q[STATUS_REFUSED] <= 1'b1;
      if (mail_taken) begin
        news_q[STATUS_MAILBOX] <= 1'b1;
        news_q[STATUS_CONTROL_READ] <= 1'b1;
      end
    end
  end
endmodule
