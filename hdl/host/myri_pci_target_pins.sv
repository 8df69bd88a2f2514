// Pins of the PCI target: read data, DEVSEL#, TRDY#, STOP#, ACK64#, parity one clock later, enables.
// Combinational except for PAR and PAR64.
module myri_pci_target_pins
  import myri_pci_pkg::*;
(
    input  logic              clk,      // PCI clock
    input  logic              rst,      // synchronous, active high
    input  pci_wires_t        bus,      // as sampled (for parity)
    input  logic              drive,    // read data on AD
    input  logic              in_data,  // transaction claimed
    input  logic              in_turn,  // control wires driven high
    input  logic              wide,     // 64-bit transfer
    input  logic              devsel,   // DEVSEL# asserted
    input  logic              trdy,     // TRDY# asserted
    input  logic              stop,     // STOP# asserted
    input  logic       [63:0] data,     // read data in bus lanes
    output pci_out_t          pci_out   // drives and enables
);
  logic par_q, par64_q, par_oe_q, par64_oe_q, drive_hi, control;
  assign drive_hi = drive & wide;
  assign control  = in_data | in_turn;

  always_ff @(posedge clk) begin
    if (drive | rst) par_q <= ^{bus.ad[31:0], bus.cbe[3:0]} | rst;
    if (drive_hi | rst) par64_q <= ^{bus.ad[63:32], bus.cbe[7:4]} | rst;
    par_oe_q   <= drive & ~rst;
    par64_oe_q <= drive_hi & ~rst;
  end

  // One concatenation in the order of myri_pci_pkg, top bit first: event-driven simulators pay per assignment.
  pci_out_t driven;
  assign driven = {
    // M66, INTA#, REQ#
    3'b111,
    // enables: SERR#, PERR#, ACK64#, REQ64#, STOP#, DEVSEL#, TRDY#, IRDY#, FRAME#, PAR64, PAR, C/BE# hi, lo, AD hi, lo
    2'b00,
    control & wide,
    1'b0,
    {3{control}},
    2'b00,
    par64_oe_q,
    par_oe_q,
    2'b00,
    drive_hi,
    drive,
    // drives: SERR#, PERR#, ACK64#, REQ64#, STOP#, DEVSEL#, TRDY#, IRDY#, FRAME#, PAR64, PAR
    2'b11,
    ~(devsel & wide),
    1'b1,
    ~stop,
    ~devsel,
    ~trdy,
    2'b11,
    par64_q | ~par64_oe_q,
    par_q | ~par_oe_q,
    // C/BE#, AD
    8'hFF,
    drive_hi ? data[63:32] : 32'hFFFF_FFFF,
    drive ? data[31:0] : 32'hFFFF_FFFF
  };
  assign pci_out = (control | par_oe_q | par64_oe_q) ? driven : PCI_NOTHING;
endmodule
