// ISR and EIMR of a LANai: bits set by hardware stay set until 1 is written to them.
//
// A signal bit is set by the signalling side, which writes 1, and cleared in the same way by the other side. Set has
// priority over clear. Timing: a write, a set and a clear take effect one clock later.
module myri_lanai_isr #(
    parameter logic [31:0] CPU_SIGNALS  = 32'd0,  // bits that the processor sets by writing 1
    parameter logic [31:0] HOST_SIGNALS = 32'd0   // bits that the host sets
) (
    input  logic        clk,         // NIC clock
    input  logic        rst,         // synchronous reset
    input  logic        hold_reset,  // LANai in reset: same state as after rst
    input  logic        from_cpu,    // 1 = the processor writes, 0 = the host
    input  logic        w_isr,       // write of ISR
    input  logic        w_eimr,      // write of EIMR
    input  logic [31:0] w_data,      // value of both
    input  logic [31:0] set,         // strobes: bits to set
    input  logic [31:0] clear,       // strobes: bits to clear
    output logic [31:0] isr,         // ISR
    output logic [31:0] isr_set,     // bits set by hardware at the last edge
    output logic [31:0] eimr,        // EIMR
    output logic        intr_line,   // some bit of ISR & EIMR
    output logic        busy         // 1 = a further clock edge is needed
);
  logic [31:0] signals;  // bits that this side's writes set

  assign signals = from_cpu ? CPU_SIGNALS : HOST_SIGNALS;
  assign intr_line = (isr & eimr) != 32'd0;
  assign busy = set != 32'd0 || isr_set != 32'd0 || (hold_reset && (isr | eimr) != 32'd0);

  always_ff @(posedge clk) begin
    if (rst || hold_reset) begin
      isr <= 32'd0;
      isr_set <= 32'd0;
      eimr <= 32'd0;
    end else begin
      if (w_isr) isr <= (isr & ~(clear | (w_data & ~signals))) | (w_data & signals) | set;
      else isr <= (isr & ~clear) | set;
      isr_set <= set;
      if (w_eimr) eimr <= w_data;
    end
  end
endmodule
