// PCI side of a NIC card in the PCI clock: target, master, configuration space, and their joined wires.
//
// Each access of the host to the card's region becomes one beat of the PIO stream, posted writes before reads, so that
// a read sees earlier writes. Read answers return and are always accepted. Commands of the host DMA engine go to the
// bus master; read beats and the end of each command are returned in one stream {done, error, beat}. Timing: see
// myri_pci_device.
module myri_nic_card
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
    output logic pio_valid,  // PIO stream: {read, addr[23:3], be, data}
    input logic pio_ready,  // accepted
    output logic [93:0] pio_data,  // beat
    input logic rsp_valid,  // read answer, always accepted
    input logic [63:0] rsp_data,  // byte lanes
    input logic cmd_valid,  // DMA command: {write, address, bytes}
    output logic cmd_ready,  // accepted
    input logic [48:0] cmd_data,  // command
    input logic wr_valid,  // DMA write beat
    output logic wr_ready,  // accepted
    input logic [63:0] wr_data,  // byte lanes
    output logic rd_valid,  // DMA read beat, or end of a command
    input logic rd_ready,  // accepted
    output logic [65:0] rd_data,  // {done, error, lanes}
    input logic inta,  // level of the interrupt request
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic busy  // 1 = a transaction is unfinished, or a further edge is needed
);
  logic [PCI_SIDES-1:0] device_needed;
  logic tw_valid, tread_valid, master_enable, device_busy;
  logic [31:0] tw_addr, tread_addr;
  logic [63:0] tw_data, mr_data;
  logic [7:0] tw_be, tread_bytes;
  logic mc_ready, mr_valid, m_done, m_error, ev_first, ev_last, tread_first;
  logic done_due_q, done_error_q;  // the end of a command waits for its place in the stream

  assign pci_gated_needed[SIDE_TARGET] = device_needed[SIDE_TARGET];
  assign pci_gated_needed[SIDE_MASTER] = device_needed[SIDE_MASTER] || m_done || done_due_q;
  assign busy = device_busy || done_due_q;
  assign cmd_ready = mc_ready && master_enable && !done_due_q;
  assign pio_valid = tw_valid || tread_valid;
  assign pio_data = {
    !tw_valid, tw_valid ? tw_addr[23:3] : tread_addr[23:3], tw_valid ? tw_be : 8'd0, tw_data
  };
  assign rd_valid = mr_valid || done_due_q;
  assign rd_data = {!mr_valid, done_error_q, mr_data};

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
      .tw_addr,
      .tw_data,
      .tw_be,
      .tread_valid,
      .tread_addr,
      .tread_bytes,
      .tread_first,
      .mc_ready,
      .mr_valid,
      .mr_data,
      .m_done,
      .m_error,
      .tw_ready(pio_ready),
      .tread_ready(pio_ready && !tw_valid),
      .td_valid(rsp_valid),
      .td_data(rsp_data),
      .tr_first(ev_first),
      .tr_last(ev_last),
      .mc_valid(cmd_valid && master_enable && !done_due_q),
      .mc_write(cmd_data[48]),
      .mc_addr(cmd_data[47:16]),
      .mc_bytes(cmd_data[15:0]),
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
  assign unused = &{1'b0, tw_addr[31:24], tw_addr[2:0], tread_addr[31:24], tread_addr[2:0], ev_first, ev_last,
      tread_bytes, tread_first};
endmodule
