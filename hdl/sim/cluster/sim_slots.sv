// Further cards in the connectors of a node: the FPGA card in slot 1, the frame buffer in slot 2, and the I/O card in
// slot 3, if present.
module sim_slots
  import myri_sleep_pkg::*;
  import myri_pci_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE = 0,  // first unit number of the node, and its settings unit
    parameter int MEMORY = 0,  // number of the FPGA card's SRAM; the frame buffer's is the next
    parameter int CLOCK_FABRIC = 0,  // index of the fabric clock
    parameter int FPGA = 0,  // 1 = there is an FPGA card
    parameter int FRAME = 0,  // 1 = there is a frame buffer
    parameter int IO = 0,  // 1 = there is an I/O card, without an FPGA card
    parameter int SLOTS = 2  // connectors, 2 or 3
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            faults,        // a fault is active or pending
    input  logic   [                  47:0] cycle,
    output logic                            busy,
    output alarm_t                          alarm,
    output logic                            in_flight,
    input  logic                            fabric_clk,
    input  logic   [                  47:0] fabric_cycle,
    output logic                            fabric_awake,
    input  logic   [ SLOTS*PCI_IN_BITS-1:0] slot_in,
    output logic   [SLOTS*PCI_OUT_BITS-1:0] slot_out
);
  logic fpga_busy, frame_busy, io_busy, fpga_in_flight, io_in_flight;
  assign busy = fpga_busy | frame_busy | io_busy;
  assign in_flight = fpga_in_flight | io_in_flight;
  if (FPGA != 0) begin : gen_fpga
    logic off, power_busy, card_busy;
    pci_out_t card_out;
    sim_slot_power #(
        .UNIT(BASE + PART_HOST_CPU),
        .SLOT(1)
    ) power (
        .clk,
        .rst,
        .faults,
        .card_out,
        .off,
        .pci_in(slot_in[PCI_IN_BITS-1:0]),
        .pci_out(slot_out[PCI_OUT_BITS-1:0]),
        .busy(power_busy)
    );
    assign fpga_busy = card_busy | power_busy;
    sim_fpga #(
        .BASE(BASE),
        .SLOT(1),
        .MEMORY(MEMORY),
        .CLOCK_FABRIC(CLOCK_FABRIC)
    ) fpga (
        .clk,
        .rst,
        .cycle,
        .alarm,
        .in_flight(fpga_in_flight),
        .fabric_clk,
        .fabric_cycle,
        .fabric_awake,
        .off,
        .busy(card_busy),
        .pci_in(slot_in[PCI_IN_BITS-1:0]),
        .pci_out(card_out)
    );
  end else begin : gen_no_fpga
    assign fpga_busy = 1'b0;
    assign alarm = NO_ALARM;
    assign fpga_in_flight = 1'b0;
    assign fabric_awake = 1'b0;
    assign slot_out[PCI_OUT_BITS-1:0] = '0;
  end
  if (FRAME != 0) begin : gen_frame
    logic off, power_busy, card_busy;
    pci_out_t card_out;
    sim_slot_power #(
        .UNIT(BASE + PART_HOST_CPU),
        .SLOT(2)
    ) power (
        .clk,
        .rst,
        .faults,
        .card_out,
        .off,
        .pci_in(slot_in[2*PCI_IN_BITS-1:PCI_IN_BITS]),
        .pci_out(slot_out[2*PCI_OUT_BITS-1:PCI_OUT_BITS]),
        .busy(power_busy)
    );
    assign frame_busy = card_busy | power_busy;
    sim_frame #(
        .BASE  (BASE),
        .SLOT  (2),
        .MEMORY(MEMORY + 1)
    ) frame (
        .clk,
        .rst,
        .cycle,
        .off,
        .busy(card_busy),
        .pci_in(slot_in[2*PCI_IN_BITS-1:PCI_IN_BITS]),
        .pci_out(card_out)
    );
  end else begin : gen_no_frame
    assign frame_busy = 1'b0;
    assign slot_out[2*PCI_OUT_BITS-1:PCI_OUT_BITS] = '0;
  end
  if (IO != 0) begin : gen_io
    logic off, power_busy, card_busy;
    pci_out_t card_out;
    sim_slot_power #(
        .UNIT(BASE + PART_HOST_CPU),
        .SLOT(3)
    ) power (
        .clk,
        .rst,
        .faults,
        .card_out,
        .off,
        .pci_in(slot_in[3*PCI_IN_BITS-1:2*PCI_IN_BITS]),
        .pci_out(slot_out[3*PCI_OUT_BITS-1:2*PCI_OUT_BITS]),
        .busy(power_busy)
    );
    assign io_busy = card_busy | power_busy;
    sim_io #(
        .BASE  (BASE),
        .SLOT  (3),
        .MEMORY(MEMORY)
    ) io (
        .clk,
        .rst,
        .cycle,
        .off,
        .busy(card_busy),
        .in_flight(io_in_flight),
        .pci_in(slot_in[3*PCI_IN_BITS-1:2*PCI_IN_BITS]),
        .pci_out(card_out)
    );
  end else begin : gen_no_io
    assign io_busy = 1'b0;
    assign io_in_flight = 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, clk, rst, faults, slot_in, cycle, fabric_clk, fabric_cycle};
endmodule
