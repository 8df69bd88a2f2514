// Special registers of the LANai 9 (fact sheet 3.3) and our additions at offsets that the chip leaves unused.
//
// Two ports: the processor, always served, and the host (PCI window 0x804000), served in clocks without an access of
// the processor. Pointers are stored in the engines: writes leave as strobes with `w_data`, read values are inputs.
// ISR: a bit set by hardware stays set until 1 is written to it; the processor sets HOST_SIG by writing 1 and clears
// LANAI_SIG, the host sets LANAI_SIG and clears HOST_SIG. Starting an engine clears its bits (our choice): SML and SMLT
// clear SEND; RML clears HEAD, RECV, BUFF. RECV loads the three ORUN bits. Set has priority over clear. Counters and
// timers are computed from the edge index.
// Timing: read data in the clock of the access; a write takes effect one clock later.
module myri_lanai_regs
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_lanai9_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic hold_reset,  // LANai in reset: ISR, EIMR and MYRINET as after rst
    input logic [15:0] cfg_rtc_num,  // RTC ticks ...
    input logic [15:0] cfg_rtc_den,  // ... in this many clocks
    input reg_request_t cpu_reg,  // special registers: access of the processor
    output logic [31:0] cpu_reg_rdata,  // read data, same clock
    input reg_request_t host_reg,  // special registers: access of the host
    output logic host_reg_ready,  // access done in this clock
    output logic [31:0] host_reg_rdata,  // read data, same clock
    output logic [31:0] w_data,  // value of all write strobes
    output logic w_rmp,  // write strobes
    output logic w_rml,  // RML
    output logic w_smp,  // SMP
    output logic w_sml,  // SML
    output logic w_smlt,  // SMLT
    output logic w_sa,  // SA
    output logic [3:0] pulse,  // PULSE: start chain k
    output logic [3:0] w_list,  // DMA_LISTk
    output logic [3:0] w_consumer,  // DOORBELL_CONSUMERk
    input logic [23:0] rmp,  // values read back
    input logic [23:0] rml,  // RML
    input logic [23:0] smp,  // SMP
    input logic [23:0] send_limit,  // SML and SMLT
    input logic [2:0] sa,  // SA
    input logic [31:0] recv_length,  // RECV_LENGTH
    input logic [2:0] recv_orun,  // loaded into ISR with set_isr[RECV]
    input logic recv_lost,  // strobe, counted in RECV_LOST
    input logic [SIZE_CHAINS-1:0][23:0] dma_list,  // current block of each chain
    input logic [SIZE_CHAINS-1:0][31:0] dma_progress,  // DMA_PROGRESSk
    input logic [31:0] dma_status,  // DMA_STATUS
    input logic [SIZE_DOORBELL_FIFOS-1:0][16:0] producer,  // DOORBELL_PRODUCERk
    input logic [SIZE_DOORBELL_FIFOS-1:0][16:0] consumer,  // DOORBELL_CONSUMERk
    input logic [31:0] overflows,  // DOORBELL_OVERFLOWS
    input logic [31:0] set_isr,  // strobes: bits to set in ISR
    input logic [31:0] set_errors,  // strobes: bits to set in ERRORS
    input logic send_started,  // strobe: a piece was started
    output logic [31:0] isr,  // ISR
    output logic [31:0] isr_set,  // bits set by hardware at the last edge
    output logic [31:0] myrinet,  // MYRINET
    output logic intr_line,  // some bit of ISR & EIMR
    output alarm_t alarm,  // alarm of the timers
    output logic busy  // 1 = a further clock edge is needed
);
  logic              write;
  logic [ 8:0]       addr;
  logic [31:0]       rdata;
  logic [31:0]       eimr;
  logic [31:0]       errors;
  logic [31:0]       lost;
  logic [31:0]       cpuc_base_q;
  logic [31:0]       cpuc;
  logic [23:0]       list_k;
  logic [31:0]       progress_k;
  logic [16:0]       producer_k;
  logic [16:0]       consumer_k;
  logic [31:0]       clear;
  logic              access;
  logic              timed;
  logic              isr_busy;
  logic [31:0]       rtc;
  logic [ 2:0][31:0] it;
  logic [ 2:0]       w_it;
  logic [ 3:0]       one_of_four;
  logic              w_isr;
  logic              w_errors;
  logic              w_eimr;
  logic              w_rtc;
  logic [31:0]       set_all;
  logic              set_any;  // something for set_all or clear
  logic [ 2:0]       expired;

  myri_lanai_access u_access (
      .value(w_data),
      .clk,
      .rst,
      .cpu_reg,
      .cpu_reg_rdata,
      .host_reg,
      .host_reg_ready,
      .host_reg_rdata,
      .access,
      .write,
      .addr,
      .rdata,
      .w_errors,
      .set_errors,
      .recv_lost,
      .errors,
      .lost
  );

  // Write strobes.
  assign w_rmp = write && addr == REG_RMP;
  assign w_rml = write && addr == REG_RML;
  assign w_smp = write && addr == REG_SMP;
  assign w_sml = write && addr == REG_SML;
  assign w_smlt = write && addr == REG_SMLT;
  assign w_sa = write && addr == REG_SA;
  assign w_rtc = write && addr == REG_RTC;
  assign w_errors = write && addr == REG_ERRORS;
  assign w_isr = write && addr == REG_ISR;
  assign w_eimr = write && addr == REG_EIMR;
  assign w_it = {write && addr == REG_IT2, write && addr == REG_IT1, write && addr == REG_IT0};
  // Groups of four registers lie at multiples of 32: bits 4:3 are the index.
  assign pulse = (write && addr == REG_PULSE) ? w_data[3:0] : 4'd0;
  assign one_of_four = write && addr[2:0] == 3'd0 ? 4'd1 << addr[4:3] : 4'd0;
  assign w_list = addr[8:5] == REG_DMA_LIST0[8:5] ? one_of_four : 4'd0;
  assign w_consumer = addr[8:5] == REG_DOORBELL_CONSUMER0[8:5] ? one_of_four : 4'd0;

  // Plain storage: registers without a function here (CRC-32, protection, LEDs are not implemented).
  logic [31:0] lar_q;
  logic [31:0] rmw_q;
  logic [31:0] rmc_q;
  logic [31:0] smh_q;
  logic [31:0] smc_q;
  logic [31:0] debug_q;
  logic [31:0] led_q;
  logic [31:0] write_enable_q;
  logic [31:0] clock_word_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      {lar_q, rmw_q, rmc_q, smh_q, smc_q, debug_q, led_q, write_enable_q, clock_word_q} <= 288'd0;
    end else if (write) begin
      case (addr)
        REG_LAR: lar_q <= w_data;
        REG_RMW: rmw_q <= w_data;
        REG_RMC: rmc_q <= w_data;
        REG_SMH: smh_q <= w_data;
        REG_SMC: smc_q <= w_data;
        REG_DEBUG: debug_q <= w_data;
        REG_LED: led_q <= w_data;
        REG_WRITE_ENABLE: write_enable_q <= w_data;
        REG_CLOCK: clock_word_q <= w_data;
        default: ;
      endcase
    end
  end

  // ISR and its sources.
  assign set_any = set_isr != 32'd0 || send_started || w_rml || expired != 3'd0;
  always_comb begin
    if (set_any) begin
      clear = (send_started ? 32'd1 << ISR_SEND : 32'd0) |
          (w_rml ? (32'd1 << ISR_HEAD) | (32'd1 << ISR_RECV) | (32'd1 << ISR_BUFF) : 32'd0) |
          (set_isr[ISR_RECV] ? 32'd7 << ISR_ORUN1 : 32'd0);
      set_all = set_isr |
          (set_isr[ISR_RECV] ? {29'd0, recv_orun} << ISR_ORUN1 : 32'd0) |
          (expired[0] ? 32'd1 << ISR_TIME0 : 32'd0) |
          (expired[1] ? 32'd1 << ISR_TIME1 : 32'd0) |
          (expired[2] ? 32'd1 << ISR_TIME2 : 32'd0);
    end else begin
      clear   = {31'd0, set_any};
      set_all = {31'd0, set_any};
    end
  end
  assign busy = access || isr_busy || set_errors != 32'd0 || recv_lost || send_started ||
      (hold_reset && myrinet != MYRINET_AFTER_RESET);

  myri_lanai_isr #(
      .CPU_SIGNALS (32'd1 << ISR_HOST_SIG),
      .HOST_SIGNALS(32'd1 << ISR_LANAI_SIG)
  ) u_isr (
      .from_cpu(cpu_reg.valid),
      .set(set_all),
      .busy(isr_busy),
      .clk,
      .rst,
      .hold_reset,
      .w_isr,
      .w_eimr,
      .w_data,
      .clear,
      .isr,
      .isr_set,
      .eimr,
      .intr_line
  );

  always_ff @(posedge clk) begin
    if (rst || hold_reset) myrinet <= MYRINET_AFTER_RESET;
    else if (write && addr == REG_MYRINET) myrinet <= w_data;
  end

  always_ff @(posedge clk) begin
    if (rst) cpuc_base_q <= 32'd0;
    else if (write && addr == REG_CPUC) cpuc_base_q <= cycle[31:0] - w_data;
  end

  assign timed = access && (addr == REG_RTC || addr == REG_IT0 || addr == REG_IT1 || addr == REG_IT2);
  myri_lanai_timers u_timers (
      .cfg_num(cfg_rtc_num),
      .cfg_den(cfg_rtc_den),
      .select (timed),
      .clk,
      .rst,
      .cycle,
      .w_rtc,
      .w_it,
      .w_data,
      .rtc,
      .it,
      .expired,
      .alarm
  );

  assign cpuc = access ? cycle[31:0] - cpuc_base_q : 32'd0;

  // Read multiplexer. Groups of four registers lie at multiples of 32: bits 4:3 are the index.
  assign list_k = dma_list[addr[4:3]];
  assign progress_k = dma_progress[addr[4:3]];
  assign producer_k = producer[addr[4:3]];
  assign consumer_k = consumer[addr[4:3]];

  always_comb begin
    if (access) begin
      case (addr)
        REG_ISR: rdata = isr;
        REG_EIMR: rdata = eimr;
        REG_IT0: rdata = it[0];
        REG_IT1: rdata = it[1];
        REG_IT2: rdata = it[2];
        REG_RTC: rdata = rtc;
        REG_CPUC: rdata = cpuc;
        REG_LAR: rdata = lar_q;
        REG_RMW: rdata = rmw_q;
        REG_RMC: rdata = rmc_q;
        REG_RMP: rdata = {8'd0, rmp};
        REG_RML: rdata = {8'd0, rml};
        REG_SMP: rdata = {8'd0, smp};
        REG_SMH: rdata = smh_q;
        REG_SML, REG_SMLT: rdata = {8'd0, send_limit};
        REG_SMC: rdata = smc_q;
        REG_SA: rdata = {29'd0, sa};
        REG_MYRINET: rdata = myrinet;
        REG_DEBUG: rdata = debug_q;
        REG_LED: rdata = led_q;
        REG_WRITE_ENABLE: rdata = write_enable_q;
        REG_CLOCK: rdata = clock_word_q;
        REG_DMA_LIST0, REG_DMA_LIST1, REG_DMA_LIST2, REG_DMA_LIST3: rdata = {8'd0, list_k};
        REG_DMA_PROGRESS0, REG_DMA_PROGRESS1, REG_DMA_PROGRESS2, REG_DMA_PROGRESS3:
        rdata = progress_k;
        REG_DMA_STATUS: rdata = dma_status;
        REG_DOORBELL_PRODUCER0, REG_DOORBELL_PRODUCER1, REG_DOORBELL_PRODUCER2, REG_DOORBELL_PRODUCER3:
        rdata = {15'd0, producer_k};
        REG_DOORBELL_CONSUMER0, REG_DOORBELL_CONSUMER1, REG_DOORBELL_CONSUMER2, REG_DOORBELL_CONSUMER3:
        rdata = {15'd0, consumer_k};
        REG_DOORBELL_OVERFLOWS: rdata = overflows;
        REG_RECV_LENGTH: rdata = recv_length;
        REG_RECV_LOST: rdata = lost;
        REG_ERRORS: rdata = errors;
        default: rdata = 32'd0;
      endcase
    end else begin
      rdata = isr;  // not read
    end
  end
endmodule
