// Registers of the card on the bus side (CardReg in pymodels/card/registers.py).
//
// Writes for the fabric cross as {offset, value}; status from the fabric arrives as {index, value}. Words on the bus
// are big-endian; two words of one beat are written one after the other. A write waits while the crossing is full. A
// write of CONTROL waits until the previous byte was read, a command until the configuration port has room. Changes of
// slots by the configuration port cross as writes of IMAGE.
// Timing: a write is done in its clock; read data are valid one clock after the request.
module myri_card_registers
  import myri_card_pkg::*;
(
    input  logic                clk,            // PCI clock
    input  logic                rst,            // synchronous reset
    input  logic                w_valid,        // write beat of the target
    output logic                w_ready,        // accepted
    input  logic         [ 7:0] w_addr,         // byte offset, multiple of 8
    input  logic         [63:0] w_data,         // byte lanes
    input  logic         [ 7:0] w_be,           // bytes written
    input  logic                r_valid,        // read, always taken
    input  logic         [ 7:0] r_addr,         // byte offset, multiple of 8
    output logic                r_done,         // read data, one clock later
    output logic         [63:0] r_data,         // byte lanes
    output logic                f_valid,        // to the fabric: a register is written
    input  logic                f_ready,        // accepted
    output card_write_t         f_word,         // register and value
    input  logic                s_valid,        // from the fabric: a status word
    output logic                s_ready,        // accepted
    input  card_report_t        s_word,         // kind and value
    input  logic         [ 3:0] host_owns,      // banks that the bus side owns
    output logic         [ 3:0] hold,           // banks that the host requests
    output logic         [31:0] nic_queue,      // see CardReg
    output logic         [23:0] nic_limit,      // see CardReg
    output logic         [31:0] nic_back,       // see CardReg
    output logic         [31:0] nic_front,      // see CardReg
    output logic         [31:0] nic_read0,      // see CardReg
    output logic         [31:0] nic_read1,      // see CardReg
    output logic                dma_start,      // strobe
    output logic         [31:0] dma_source,     // see CardReg
    output logic         [23:0] dma_target,     // see CardReg
    output logic         [15:0] dma_bytes,      // see CardReg
    input  logic                dma_active,     // the transfer is unfinished
    output logic                mailbox_waits,  // level: a write of CONTROL waits
    output logic                c_valid,        // command for the configuration port
    input  logic                c_ready,        // accepted
    output logic         [31:0] c_data,         // Configure
    input  logic                tell_valid,     // change of slots
    output logic                tell_ready,     // accepted
    input  card_change_t        tell,           // the change
    output logic                told,           // strobe: it has been made
    input  logic                loading,        // see CardReg.CONFIG
    input  card_load_t          outcome,        // see CardReg.CONFIG
    input  logic         [31:0] loaded_bytes,   // see CardReg.CONFIG_BYTES
    output logic                busy            // 1 = a further clock edge is needed
);
  function automatic logic [31:0] swap(input logic [31:0] word);
    swap = {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  // ---- written word ----
  logic upper_q, take, only_low, high, to_fabric, blocked;
  logic [ 7:0] addr;
  logic [31:0] value;
  logic [31:0] low_word, high_word;
  assign low_word = swap(w_data[31:0]);
  assign high_word = swap(w_data[63:32]);
  assign only_low = w_be[7:4] == 4'd0;
  assign high = upper_q || w_be[3:0] == 4'd0;
  assign addr = {w_addr[7:3], high, 2'd0};
  assign value = high ? high_word : low_word;
  assign take = w_valid && !blocked;
  assign w_ready = take && (high || only_low);
  always_ff @(posedge clk) begin
    if (rst) upper_q <= 1'b0;
    else if (take) upper_q <= !w_ready;
  end

  always_comb begin
    case (addr)
      CARD_BACK0, CARD_BACK1, CARD_LIMIT, CARD_SELF, CARD_RUN, CARD_CLOCK, CARD_CONTROL, CARD_CONTROL_HANDLER,
      CARD_ERROR_HANDLER:
      to_fabric = 1'b1;
      default: to_fabric = addr[7];  // the handler table
    endcase
  end

  // ---- to the fabric: register writes, and changes of slots ----
  logic control_full_q;
  assign mailbox_waits = w_valid && addr == CARD_CONTROL && control_full_q;
  assign blocked = (to_fabric && (tell_valid || !f_ready)) || mailbox_waits || (addr == CARD_CONFIG && !c_ready);
  assign f_valid = tell_valid || (w_valid && to_fabric && !mailbox_waits);
  assign f_word.addr = tell_valid ? CARD_IMAGE : addr;
  assign f_word.data = tell_valid ? {{(32 - $bits(card_change_t)) {1'b0}}, tell} : value;
  assign tell_ready = f_ready;
  assign told = s_valid && s_word.index == STATUS_IMAGE;
  assign c_valid = w_valid && addr == CARD_CONFIG;
  assign c_data = value;

  // ---- plain registers ----
  always_ff @(posedge clk) begin
    if (rst) begin
      hold <= '0;
      nic_queue <= '0;
      nic_limit <= '0;
      nic_back <= '0;
      nic_front <= '0;
      nic_read0 <= '0;
      nic_read1 <= '0;
      dma_source <= '0;
      dma_target <= '0;
      dma_bytes <= '0;
    end else if (take) begin
      case (addr)
        CARD_OWN: hold <= value[3:0];
        CARD_NIC_QUEUE: nic_queue <= value;
        CARD_NIC_LIMIT: nic_limit <= value[23:0];
        CARD_NIC_BACK: nic_back <= value;
        CARD_NIC_FRONT: nic_front <= value;
        CARD_NIC_READ0: nic_read0 <= value;
        CARD_NIC_READ1: nic_read1 <= value;
        CARD_DMA_SOURCE: dma_source <= value;
        CARD_DMA_TARGET: dma_target <= value[23:0];
        CARD_DMA_BYTES: dma_bytes <= value[15:0];
        default: ;
      endcase
    end
  end
  always_ff @(posedge clk) begin
    if (rst) dma_start <= 1'b0;
    else dma_start <= take && addr == CARD_DMA_BYTES;
  end

  // ---- mailboxes and status ----
  logic run_q, mail_there_q;
  logic [7:0] mail_q;
  logic [31:0] images_q, messages_q, results_q, refused_q;
  assign s_ready = 1'b1;
  always_ff @(posedge clk) begin
    if (rst) begin
      run_q <= 1'b0;
      mail_q <= '0;
      images_q <= '0;
      messages_q <= '0;
      results_q <= '0;
      refused_q <= '0;
    end else if (s_valid) begin
      case (s_word.index)
        STATUS_RUN: run_q <= s_word.value[0];
        STATUS_IMAGE: images_q <= s_word.value;
        STATUS_MESSAGES: messages_q <= s_word.value;
        STATUS_RESULTS: results_q <= s_word.value;
        STATUS_REFUSED: refused_q <= s_word.value;
        STATUS_MAILBOX: mail_q <= s_word.value[7:0];
        default: ;
      endcase
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      mail_there_q   <= 1'b0;
      control_full_q <= 1'b0;
    end else begin
      if (s_valid && s_word.index == STATUS_MAILBOX) mail_there_q <= 1'b1;
      else if (take && addr == CARD_STATUS) mail_there_q <= 1'b0;
      if (take && addr == CARD_CONTROL) control_full_q <= 1'b1;
      else if (s_valid && s_word.index == STATUS_CONTROL_READ) control_full_q <= 1'b0;
    end
  end

  // ---- reads ----
  logic [31:0] read_low, read_high;
  always_comb begin
    read_low  = '0;
    read_high = '0;
    case (r_addr[7:3])
      CARD_RUN[7:3]: read_low = {31'd0, run_q};
      CARD_IMAGE[7:3]: begin
        read_low  = images_q;
        read_high = {loading, 27'd0, outcome};
      end
      CARD_OWN[7:3]: begin
        read_low  = {24'd0, host_owns, hold};
        read_high = {31'd0, control_full_q};
      end
      CARD_STATUS[7:3]: read_low = {23'd0, mail_there_q, mail_q};
      CARD_DMA_BYTES[7:3]: read_high = {16'd0, dma_active || dma_start ? dma_bytes : 16'd0};
      CARD_MESSAGES[7:3]: begin
        read_low  = messages_q;
        read_high = results_q;
      end
      CARD_REFUSED[7:3]: begin
        read_low  = refused_q;
        read_high = loaded_bytes;
      end
      default: ;
    endcase
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      r_done <= 1'b0;
      r_data <= '0;
    end else begin
      r_done <= r_valid;
      if (r_valid) r_data <= {swap(read_high), swap(read_low)};
    end
  end

  assign busy = w_valid || r_valid || r_done || tell_valid || s_valid || dma_start;

  logic unused;
  assign unused = &{1'b0, w_addr[2:0], r_addr[2:0]};
endmodule
