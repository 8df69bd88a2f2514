// Registers of the SP adapter as its processor sees them: STATUS, timer, interrupt, errors, doorbell FIFO. Writes of
// the others are strobes to their units.
//
// FETCHED, STORED and SENT in STATUS count finished operations of the engines, so that firmware compares counts and
// need not clear flags. Timing: read in the same clock, written one clock later. Clock gating: the timer is an alarm.
module sp_regs
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import sp_adapter_pkg::*;
(
    input  logic                clk,            // NIC clock
    input  logic                rst,            // synchronous reset
    input  logic         [47:0] cycle,          // index of the coming edge
    input  reg_request_t        cpu_reg,        // special registers: access of the processor
    output logic         [31:0] cpu_reg_rdata,  // read data, same clock
    output logic         [31:0] status,         // STATUS
    input  logic                arrived,        // its bits: a packet is at the head,
    input  logic                send_free,      // the send side is free,
    input  logic                queue_room,     // the command queue has room,
    input  logic                left_idle,      // every command is done;
    input  logic                set_fetched,    // strobes: a FETCH is done,
    input  logic                set_stored,     // a STORE is done,
    input  logic                set_sent,       // a packet is in the send buffer,
    input  logic                set_read,       // a READ is done,
    input  logic                set_alarm,      // an ALARM is done,
    input  logic                set_bell,       // a doorbell entry has arrived
    input  logic         [ 5:0] set_errors,     // strobes: bits of ERRORS
    input  logic         [31:0] recv_word,      // RECV0..RECV7 at cpu_reg.addr[4:2]
    input  logic         [31:0] recv_status,    // RECV_STATUS
    input  logic         [31:0] read_word,      // words of READ at cpu_reg.addr[6:2]
    input  logic         [16:0] producer,       // of the doorbell FIFO
    input  logic         [16:0] consumer,       // read back
    input  logic         [23:0] base,           // read back
    input  logic         [31:0] overflows,      // entries dropped
    input  logic                clear_irq,      // strobe: the host clears the interrupt
    output logic                irq,            // level: interrupt request
    output logic                w_command,      // strobes: insert a command,
    output logic                w_words,        // insert data,
    output logic                w_next,         // RECV_NEXT,
    output logic                w_send,         // one of SEND0..SEND5,
    output logic                w_own,          // one of OWN0..OWN15,
    output logic         [ 3:0] w_index,        // which, of both
    output logic                w_start,        // SEND_START,
    output logic                w_consumer,     // BELL_CONSUMER,
    output logic                w_base,         // BELL_BASE
    output logic         [63:0] w_pair,         // with w_command and w_words: both words
    output alarm_t              alarm,          // alarm of the timer
    output logic                busy            // 1 = a further clock edge is needed
);
  logic write;
  logic [31:0] high_q, errors_q;  // first word of the entry to insert
  logic [7:0] fetched_q, stored_q, sent_q;
  logic due_q, timing_q, now_due, read_q;
  logic [47:0] due_at_q;
  logic [31:0] value;

  assign write = cpu_reg.valid && cpu_reg.write;
  assign w_command = write && cpu_reg.addr == REG_COMMAND_LOW;
  assign w_words = write && (cpu_reg.addr == REG_DATA_LOW || cpu_reg.addr == REG_DATA_ONE);
  assign w_next = write && cpu_reg.addr == REG_RECV_NEXT;
  assign w_send = write && cpu_reg.addr[8:5] == REG_SEND0[8:5];
  assign w_own = write && cpu_reg.addr[8:6] == REG_OWN0[8:6];
  assign w_index = {w_own && cpu_reg.addr[5], cpu_reg.addr[4:2]};
  assign w_start = write && cpu_reg.addr == REG_SEND_START;
  assign w_consumer = write && cpu_reg.addr == REG_BELL_CONSUMER;
  assign w_base = write && cpu_reg.addr == REG_BELL_BASE;
  assign w_pair = cpu_reg.addr == REG_DATA_ONE ? {cpu_reg.wdata, 32'd0} : {high_q, cpu_reg.wdata};

  assign status = {
    sent_q,
    stored_q,
    fetched_q,
    read_q,
    errors_q != 32'd0,
    due_q,
    producer != consumer,
    left_idle,
    queue_room,
    send_free,
    arrived
  };
  assign now_due = timing_q && cycle >= due_at_q;
  assign alarm.valid = timing_q;
  assign alarm.cycle = due_at_q;
  assign busy = write || clear_irq || set_fetched || set_stored || set_sent || set_read || set_alarm || set_bell ||
      set_errors != 6'd0 || now_due;

  always_comb begin
    case (cpu_reg.addr)
      REG_STATUS: value = status;
      REG_INTERRUPT: value = {31'd0, irq};
      REG_ERRORS: value = errors_q;
      REG_TIME: value = cycle[31:0];
      REG_COMMAND_HIGH: value = high_q;
      REG_DATA_HIGH: value = high_q;
      REG_RECV_STATUS: value = recv_status;
      REG_BELL_PRODUCER: value = {15'd0, producer};
      REG_BELL_CONSUMER: value = {15'd0, consumer};
      REG_BELL_BASE: value = {8'd0, base};
      REG_BELL_OVERFLOWS: value = overflows;
      default:
      value = cpu_reg.addr[8:7] == REG_READ0[8:7] ? read_word : cpu_reg.addr[8:5] == REG_RECV0[8:5] ? recv_word : 32'd0;
    endcase
    cpu_reg_rdata = value;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      {high_q, errors_q, fetched_q, stored_q, sent_q, due_q, timing_q, irq, read_q} <= '0;
      due_at_q <= 48'd0;
    end else begin
      fetched_q <= fetched_q + 8'(set_fetched);
      stored_q <= stored_q + 8'(set_stored);
      sent_q <= sent_q + 8'(set_sent);
      if (write && (cpu_reg.addr == REG_COMMAND_HIGH || cpu_reg.addr == REG_DATA_HIGH))
        high_q <= cpu_reg.wdata;
      errors_q <= (errors_q & ~(write && cpu_reg.addr == REG_ERRORS ? cpu_reg.wdata : 32'd0)) | {26'd0, set_errors};
      due_q <= now_due || (due_q && !(write && cpu_reg.addr == REG_ACK && cpu_reg.wdata[STATUS_TIME]));
      if (write && cpu_reg.addr == REG_TIMER) begin
        timing_q <= cpu_reg.wdata != 32'd0;
        due_at_q <= cycle + {16'd0, cpu_reg.wdata};
      end else if (now_due) begin
        timing_q <= 1'b0;
      end
      read_q <= set_read || (read_q && !(w_command && high_q[COMMAND_READ]));
      if (set_alarm || (write && cpu_reg.addr == REG_INTERRUPT && cpu_reg.wdata[0])) irq <= 1'b1;
      else if (clear_irq) irq <= 1'b0;
    end
  end
endmodule
