// What the fabric tells the bus side: mailbox answers, the image, counts of messages; and the two commands of the
// control mailbox that the shell knows, RESUME and PAUSE.
//
// Each word that changed is told once as {index, value}, the newest value if it changed again meanwhile.
// Timing: a change is offered in the clock after.
module myri_card_status
  import myri_card_pkg::*;
(
    input  logic        clk,         // fabric clock
    input  logic        rst,         // synchronous reset
    input  logic        run,         // see CardReg
    input  logic [ 7:0] image,       // loaded; 0 = none
    input  logic        no_such,     // none, as there is none of the number that was asked for
    input  logic        idle,        // no message is in work
    input  logic        mail_valid,  // a byte in the control mailbox
    input  logic [ 7:0] mail,        // it
    output logic        mail_taken,  // it is read
    output logic        paused,      // no message is begun
    input  logic        taken,       // strobe: a message is done with
    input  logic        refused,     // strobe, with it: it was for no circuit
    input  logic        given,       // strobe: a result is written
    output logic        s_valid,     // status word for the bus side
    input  logic        s_ready,     // taken
    output logic [ 2:0] s_index,     // STATUS_...
    output logic [31:0] s_value,     // value
    output logic        busy         // needs another edge
);
  logic [6:0] news;  // words to tell
  logic run_told;
  logic [8:0] image_told;
  logic [7:0] answer;
  logic [31:0] messages, results, refusals;
  assign mail_taken = mail_valid && image != '0 && idle;
  assign s_valid = news != '0;
  assign busy = s_valid || run != run_told || {no_such, image} != image_told;

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
  always_ff @(posedge clk) begin
    if (rst) begin
      messages <= '0;
      results  <= '0;
      refusals <= '0;
    end else begin
      if (taken) messages <= messages + 32'd1;
      if (given) results <= results + 32'd1;
      if (taken && refused) refusals <= refusals + 32'd1;
    end
  end

  always_comb begin
    s_index = STATUS_RUN;
    s_value = {31'd0, run};
    if (news[STATUS_IMAGE]) begin
      s_index = STATUS_IMAGE;
      s_value = {23'd0, no_such, image};
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
  always_ff @(posedge clk) begin
    if (rst) begin
      news <= '0;
      run_told <= 1'b0;
      image_told <= '0;
    end else begin
      run_told   <= run;
      image_told <= {no_such, image};
      if (s_valid && s_ready) news[s_index] <= 1'b0;
      if (run != run_told) news[STATUS_RUN] <= 1'b1;
      if ({no_such, image} != image_told) news[STATUS_IMAGE] <= 1'b1;
      if (taken) news[STATUS_MESSAGES] <= 1'b1;
      if (given) news[STATUS_RESULTS] <= 1'b1;
      if (taken && refused) news[STATUS_REFUSED] <= 1'b1;
      if (mail_taken) begin
        news[STATUS_MAILBOX] <= 1'b1;
        news[STATUS_CONTROL_READ] <= 1'b1;
      end
    end
  end
endmodule
