// Observer of the card's connector: reports which port of the message unit a PCI read has really moved.
//
// A target fetches lane groups ahead and may discard them, so a fetch must not remove an MFA from its queue. A data phase
// of a read in this card's window, at a port and with its bytes enabled, does.
// Timing: `port_read` one clock after the data phase.
module myri_io_reads
  import myri_io_pkg::*;
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input pci_in_t pci_in,  // resolved wires of the connector
    input pci_out_t pci_out,  // drives of the card
    output logic [1:0] port_read,  // strobes: the inbound port (0), the outbound port (1) was read
    output logic busy  // 1 = a further clock edge is needed
);
  logic frame_q;  // FRAME# was asserted at the last edge
  logic reading_q;  // the transaction is a memory read
  logic [22:2] addr_q;  // dword of the current data phase
  pci_wires_t bus, driven;
  pci_enables_t enables;
  logic claimed, wide, step, low, high, begins, group;
  assign bus = pci_in.wires;
  assign driven = pci_out.wires;
  assign enables = pci_out.enables;
  assign begins = !bus.frame_n && !frame_q;
  assign claimed = enables.devsel && !driven.devsel_n;
  assign wide = !driven.ack64_n && enables.ack64;
  assign step = claimed && !bus.irdy_n && !bus.trdy_n;
  assign group = addr_q[22:3] == {15'd0, IO_INBOUND_PORT[7:3]} && reading_q;
  assign low = !addr_q[2] && bus.cbe[3:0] != 4'hF;
  assign high = wide ? bus.cbe[7:4] != 4'hF : addr_q[2] && bus.cbe[3:0] != 4'hF;
  always_ff @(posedge clk) begin
    if (rst) begin
      frame_q   <= 1'b0;
      reading_q <= 1'b0;
      addr_q    <= '0;
      port_read <= '0;
    end else begin
      frame_q   <= !bus.frame_n;
      port_read <= step && group ? {high, low} : 2'd0;
      if (begins) begin
        addr_q <= bus.ad[22:2];
        reading_q <= bus.cbe[3:0] == PCI_MEM_READ || bus.cbe[3:0] == PCI_MEM_READ_LINE
            || bus.cbe[3:0] == PCI_MEM_READ_MULTIPLE;
      end else if (step) addr_q <= addr_q + (wide ? 21'd2 : 21'd1);
    end
  end
  assign busy = frame_q == bus.frame_n || step || port_read != '0;

  logic unused;
  assign unused = &{1'b0, pci_in, pci_out, bus, driven, enables};
endmodule
