// Frame buffer card: a window of memory on the PCI bus. The memory is external.
//
// A lane group of 8 bytes is one access. Timing: one write beat per clock; read data one clock after the request.
module myri_frame_buffer
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output logic busy,  // 1 = a further clock edge is needed
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    input pci_card_settings_t cfg,  // configuration of the card
    output logic mem_valid,  // access of the memory
    output logic mem_write,  // 1 = write
    output logic [23:0] mem_addr,  // byte offset, multiple of 8
    output logic [63:0] mem_wdata,  // write data
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // read data, one clock later
    output pci_target_trace_t trace  // events of the clock before
);
  pci_out_t target_out, no_master;
  assign no_master = PCI_NOTHING;
  logic cs_write, mem_enable, master_enable, target_busy, config_busy;
  logic [5:0] cs_reg, bar_size_log2;
  logic [31:0] cs_wdata, cs_rdata, bar_base;
  logic [3:0] cs_be;
  logic [7:0] latency_timer, interrupt_line;
  pci_write_t tw;
  pci_read_t  tread;
  logic tw_valid, tw_ready, tread_valid, tread_ready, td_valid_q;
  logic [63:0] td_data;
  logic serving;  // the target's request, during which it is busy, too

  myri_pci_config #(
      .VENDOR(32'h4357),
      .DEVICE(32'h00FB),
      .CLASS_REV(32'h0380_0000)
  ) u_config (
      .cfg_base(cfg.base),
      .cfg_enabled(cfg.enabled),
      .busy(config_busy),
      .clk,
      .rst,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata,
      .bar_base,
      .bar_size_log2,
      .mem_enable,
      .master_enable,
      .latency_timer,
      .interrupt_line
  );
  myri_pci_target u_target (
      .pci_out(target_out),
      .cfg(cfg.target),
      .cfg_wide(cfg.wide),
      .cfg_target_abort(1'b0),
      .trace,
      .needed(),
      .busy(target_busy),
      .clk,
      .rst,
      .cycle,
      .pci_in,
      .bar_base,
      .bar_size_log2,
      .mem_enable,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_data,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata,
      .td_valid(td_valid_q)
  );
  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(no_master),
      .inta (1'b0),
      .m66  (cfg.m66),
      .pci_out
  );

  assign tw_ready = 1'b1;
  assign tread_ready = !tw_valid && !td_valid_q;
  assign mem_valid = tw_valid || (tread_valid && tread_ready);
  assign mem_write = tw_valid;
  assign mem_addr = tw_valid ? tw.addr[23:0] : tread.addr[23:0];
  assign mem_wdata = tw.data;
  assign mem_be = tw.be;
  assign td_data = mem_rdata;
  always_ff @(posedge clk) begin
    if (rst) td_valid_q <= 1'b0;
    else td_valid_q <= tread_valid && tread_ready;
  end
  assign serving = config_busy || td_valid_q || mem_valid;
  assign busy = target_busy || serving;

  logic unused;
  assign unused = &{1'b0, master_enable, latency_timer, interrupt_line, tread.bytes, tread.first, bar_base[23:0],
                    tw.addr[31:24], tread.addr[31:24]};
endmodule
