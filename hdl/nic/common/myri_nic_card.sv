// PCI side of a NIC card in the PCI clock: target, master, configuration space, and their joined wires.
//
// Each access of the host to the card's region becomes one beat of the PIO stream, posted writes before reads, so that
// a read sees earlier writes. Read answers return and are always accepted. Commands of the host DMA engine go to the
// bus master; read beats and the end of each command are returned in one stream {done, error, beat}. Timing: see
// myri_pci_device.
module myri_nic_card
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int BAR_LOG2 = 24  // bytes of the card's region = 2**BAR_LOG2
) (
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // PCI clock of its sides, gated
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    input pci_card_settings_t cfg,  // configuration of the card
    output logic pio_valid,  // PIO stream
    input logic pio_ready,  // accepted
    output pio_beat_t pio,  // beat
    input logic rsp_valid,  // read answer, always accepted
    input logic [63:0] rsp_data,  // byte lanes
    input logic cmd_valid,  // DMA command
    output logic cmd_ready,  // accepted
    input pci_transfer_t cmd,  // command
    input logic wr_valid,  // DMA write beat
    output logic wr_ready,  // accepted
    input logic [63:0] wr_data,  // byte lanes
    output logic rd_valid,  // DMA read beat, or end of a command
    input logic rd_ready,  // accepted
    output pci_beat_t rd,  // beat
    input logic inta,  // level of the interrupt request
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic busy  // 1 = a transaction is unfinished, or a further edge is needed
);
  logic [PCI_SIDES-1:0] device_needed;
  logic tw_valid, tread_valid, master_enable, device_busy;

  logic [63:0] mr_data;

  pci_write_t tw;
  pci_read_t tread;
  logic mc_ready, mr_valid, m_done, m_error;
  pci_device_trace_t trace;
  logic done_due_q, done_error_q;  // the end of a command waits for its place in the stream

  assign pci_gated_needed[SIDE_TARGET] = device_needed[SIDE_TARGET];
  assign pci_gated_needed[SIDE_MASTER] = device_needed[SIDE_MASTER] || m_done || done_due_q;
  assign busy = device_busy || done_due_q;
  assign cmd_ready = mc_ready && master_enable && !done_due_q;
  assign pio_valid = tw_valid || tread_valid;
  assign pio.read = !tw_valid;
  assign pio.word = tw_valid ? tw.addr[23:2] : tread.addr[23:2];
  assign pio.be = tw_valid ? tw.be : 8'd0;
  assign pio.data = tw.data;
  assign rd_valid = mr_valid || done_due_q;
  assign rd.done = !mr_valid;
  assign rd.error = done_error_q;
  assign rd.data = mr_data;

  myri_pci_device #(
      .BAR_LOG2(BAR_LOG2)
  ) u_device (
      .pci_gated_clk,
      .rst,
      .cycle,
      .pci_in,
      .pci_out,
      .cfg,
      .inta,
      .master_enable,
      .tw_valid,
      .tw,
      .tread_valid,
      .tread,
      .mc_ready,
      .mr_valid,
      .mr_data,
      .m_done,
      .m_error,
      .tw_ready(pio_ready),
      .tread_ready(pio_ready && !tw_valid),
      .td_valid(rsp_valid),
      .td_data(rsp_data),
      .trace,
      .mc_valid(cmd_valid && master_enable && !done_due_q),
      .mc(cmd),
      .mw_valid(wr_valid),
      .mw_ready(wr_ready),
      .mw_data(wr_data),
      .mr_ready(rd_ready),
      .pci_gated_needed(device_needed),
      .busy(device_busy)
  );

  // The end of a command waits for its turn after the read beats.
  always_ff @(posedge pci_gated_clk[SIDE_MASTER]) begin
    if (rst) begin
      done_due_q   <= 1'b0;
      done_error_q <= 1'b0;
    end else if (m_done) begin
      done_due_q   <= 1'b1;
      done_error_q <= m_error;
    end else if (!mr_valid && rd_ready) begin
      done_due_q <= 1'b0;
    end
  end

  logic unused;  // unused signals
  assign unused = &{1'b0, tw.addr[31:24], tw.addr[1:0], tread.addr[31:24], tread.addr[1:0], trace,
      tread.bytes, tread.first};
endmodule
