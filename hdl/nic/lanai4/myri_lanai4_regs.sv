// Special registers of the LANai 4 (fact sheet 3.2) and our additions at offsets that the chip leaves unused.
//
// Two ports as in myri_lanai_regs: the processor, always served, and the host, served in clocks without an access of
// the processor. Pointers are stored in the engines: writes leave as strobes with `w_data`, read values are inputs.
// SML, SMLT and RML name the last word (fact sheet 3.5); the engines get the address of the byte after it. The
// processor signals by HOST_SIG, the host by LAN0_SIG .. LAN7_SIG. Starting an engine clears its bits (our choice): SML
// and SMLT clear SEND; RML clears RECV, BUFF; DMA_CTR clears DMA. RECV loads the two OFF_BY bits.
// Timing: read data in the clock of the access; a write takes effect one clock later.
module myri_lanai4_regs
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_lanai4_pkg::*;
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
    output logic [31:0] w_data,  // value of all write strobes, limits as the engines take them
    output logic w_rmp,  // write strobes
    output logic w_rml,  // RML
    output logic w_smp,  // SMP
    output logic w_sml,  // SML
    output logic w_smlt,  // SMLT
    output logic w_sa,  // SA
    output logic w_ear,  // EAR
    output logic w_lar,  // LAR
    output logic w_dir,  // DMA_DIR
    output logic w_ctr,  // DMA_CTR
    input logic [23:0] rmp,  // values read back
    input logic [23:0] rml,  // RML, the byte after it
    input logic [23:0] smp,  // SMP
    input logic [23:0] send_limit,  // SML and SMLT, the byte after it
    input logic [2:0] sa,  // SA
    input logic [31:0] ear,  // EAR
    input logic [31:0] lar,  // LAR
    input logic dir,  // DMA_DIR
    input logic [31:0] ctr,  // DMA_CTR
    input logic dma_runs,  // a transfer is active
    input logic [31:0] recv_length,  // RECV_LENGTH
    input logic [2:0] recv_orun,  // OFF_BY bits, with set_isr[RECV]
    input logic recv_lost,  // strobe, counted in RECV_LOST
    input logic [31:0] set_isr,  // strobes: bits to set in ISR
    input logic [31:0] set_errors,  // strobes: bits to set in ERRORS
    input logic send_started,  // strobe: a piece was started
    output logic [31:0] isr,  // ISR
    output logic [31:0] isr_set,  // bits set by hardware at the last edge
    output logic [1:0] nres_code,  // TIMEOUT
    output logic nres_enable,  // MYRINET
    output logic crc_enable,  // MYRINET
    output logic intr_line,  // some bit of ISR & EIMR
    output alarm_t alarm,  // alarm of the timer
    output logic busy  // 1 = a further clock edge is needed
);
  logic write, access, timed, isr_busy, to_limit, w_errors, w_isr, w_eimr, w_rtc, w_it;
  logic [8:0] addr;
  logic [31:0] value, rdata, eimr, errors, lost, clear, set_all, rtc, myrinet_q;
  logic [31:0] cks_q, sts_q, timeout_q, debug_q, led_q, write_enable_q;
  logic [2:0][31:0] it;
  logic [2:0] expired;

  myri_lanai_access u_access (
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
      .value,
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
  assign w_ear = write && addr == REG_EAR;
  assign w_lar = write && addr == REG_LAR;
  assign w_dir = write && addr == REG_DMA_DIR;
  assign w_ctr = write && addr == REG_DMA_CTR;
  assign w_rtc = write && addr == REG_RTC;
  assign w_it = write && addr == REG_IT;
  assign w_errors = write && addr == REG_ERRORS;
  assign w_isr = write && addr == REG_ISR;
  assign w_eimr = write && addr == REG_EIMR;
  assign to_limit = w_rml || w_sml || w_smlt;
  assign w_data = to_limit ? {value[31:2] + 30'd1, 2'b00} : w_smp ? {value[31:2], 2'b00} :
      w_sa ? {30'd0, value[1:0]} : value;

  // Plain storage: checksum, burst modes, debug and protection are not implemented.
  always_ff @(posedge clk) begin
    if (rst) begin
      {cks_q, sts_q, timeout_q, debug_q, led_q, write_enable_q} <= 192'd0;
    end else if (write) begin
      case (addr)
        REG_CKS: cks_q <= value;
        REG_DMA_STS: sts_q <= value;
        REG_TIMEOUT: timeout_q <= value;
        REG_DEBUG: debug_q <= value;
        REG_LED: led_q <= value;
        REG_WRITE_ENABLE: write_enable_q <= value;
        default: ;
      endcase
    end
  end
  assign nres_code   = timeout_q[1:0];
  assign nres_enable = myrinet_q[MYRINET_NRES_EN];
  assign crc_enable  = myrinet_q[MYRINET_CRC_EN];

  always_ff @(posedge clk) begin
    if (rst || hold_reset) myrinet_q <= MYRINET_AFTER_RESET;
    else if (write && addr == REG_MYRINET) myrinet_q <= value;
  end

  // ISR and its sources.
  assign clear = (send_started ? 32'd1 << ISR_SEND : 32'd0) |
      (w_rml ? (32'd1 << ISR_RECV) | (32'd1 << ISR_BUFF) : 32'd0) |
      (w_ctr && !dma_runs ? 32'd1 << ISR_DMA : 32'd0) |
      (set_isr[ISR_RECV] ? 32'd3 << ISR_OFF_BY_1 : 32'd0);
  assign set_all = set_isr |
      (set_isr[ISR_RECV] ? {30'd0, recv_orun[1:0]} << ISR_OFF_BY_1 : 32'd0) |
      (expired[0] ? 32'd1 << ISR_TIME : 32'd0);
  assign busy = access || isr_busy || set_errors != 32'd0 || recv_lost || send_started ||
      (hold_reset && myrinet_q != MYRINET_AFTER_RESET);

  myri_lanai_isr #(
      .CPU_SIGNALS (32'd1 << ISR_HOST_SIG),
      .HOST_SIGNALS(32'hFF << ISR_LAN0_SIG)
  ) u_isr (
      .from_cpu(cpu_reg.valid),
      .w_data(value),
      .set(set_all),
      .busy(isr_busy),
      .clk,
      .rst,
      .hold_reset,
      .w_isr,
      .w_eimr,
      .clear,
      .isr,
      .isr_set,
      .eimr,
      .intr_line
  );

  assign timed = access && (addr == REG_RTC || addr == REG_IT);
  myri_lanai_timers u_timers (
      .cfg_num(cfg_rtc_num),
      .cfg_den(cfg_rtc_den),
      .select(timed),
      .w_it({2'b00, w_it}),
      .w_data(value),
      .clk,
      .rst,
      .cycle,
      .w_rtc,
      .rtc,
      .it,
      .expired,
      .alarm
  );

  logic unused_ok;
  assign unused_ok = ^{it[2:1], expired[2:1], recv_orun[2]};

  always_comb begin
    case (addr)
      REG_ISR: rdata = isr;
      REG_EIMR: rdata = eimr;
      REG_IT: rdata = it[0];
      REG_RTC: rdata = rtc;
      REG_CKS: rdata = cks_q;
      REG_EAR: rdata = ear;
      REG_LAR: rdata = lar;
      REG_DMA_CTR: rdata = ctr;
      REG_RMP: rdata = {8'd0, rmp};
      REG_RML: rdata = {8'd0, rml - 24'd4};
      REG_SMP: rdata = {8'd0, smp};
      REG_SML, REG_SMLT: rdata = {8'd0, send_limit - 24'd4};
      REG_SA: rdata = {29'd0, sa};
      REG_DMA_DIR: rdata = {31'd0, dir};
      REG_DMA_STS: rdata = sts_q;
      REG_TIMEOUT: rdata = timeout_q;
      REG_MYRINET: rdata = myrinet_q;
      REG_DEBUG: rdata = debug_q;
      REG_LED: rdata = led_q;
      REG_VERSION: rdata = SIZE_VERSION;
      REG_WRITE_ENABLE: rdata = write_enable_q;
      REG_RECV_LENGTH: rdata = recv_length;
      REG_RECV_LOST: rdata = lost;
      REG_ERRORS: rdata = errors;
      REG_DMA_STATUS: rdata = {31'd0, dma_runs};
      default: rdata = 32'd0;
    endcase
  end
endmodule
