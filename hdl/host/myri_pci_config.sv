// Type-0 configuration space of a single-function PCI device: identity, command, BAR0 with sizing, latency timer,
// interrupt line.
//
// Reads are combinational from cs_reg; a write takes effect one clock later. Reset loads the values that a BIOS would
// have set.
module myri_pci_config
  import myri_pci_pkg::*;
#(
    parameter int VENDOR = 32'h14C1,  // vendor ID
    parameter int DEVICE = 32'h8043,  // device ID
    parameter int CLASS_REV = 32'h0280_0000,  // class code and revision (network controller, other)
    parameter int BAR_LOG2 = 24  // BAR0 bytes = 2**this, 8..31
) (
    input  logic        clk,             // PCI clock
    input  logic        rst,             // synchronous, active high
    input  logic [31:0] cfg_base,        // BAR0 after reset
    input  logic        cfg_enabled,     // memory and master enable after reset
    input  logic        cs_write,        // configuration write, strobe
    input  logic [ 5:0] cs_reg,          // register (dword)
    input  logic [31:0] cs_wdata,        // write data
    input  logic [ 3:0] cs_be,           // bytes written
    output logic [31:0] cs_rdata,        // read data
    output logic [31:0] bar_base,        // to the target
    output logic [ 5:0] bar_size_log2,   // to the target
    output logic        mem_enable,      // command register bit 1
    output logic        master_enable,   // command register bit 2
    output logic [ 7:0] latency_timer,   // to the master
    output logic [ 7:0] interrupt_line,  // scratch for software
    output logic        busy             // 1 = needs clock edges
);
  localparam logic [31:0] BAR_MASK = 32'hFFFF_FFFF << BAR_LOG2;

  logic [7:0] cache_line_q;

  assign bar_size_log2 = 6'(BAR_LOG2);
  assign busy = cs_write;

  always_comb begin
    case (cs_reg)
      CONFIG_IDENTITY: cs_rdata = {16'(DEVICE), 16'(VENDOR)};
      CONFIG_COMMAND:
      cs_rdata = {
        16'h02A0, 13'd0, master_enable, mem_enable, 1'b0
      };  // medium DEVSEL#, fast back-to-back, 66 MHz
      CONFIG_CLASS: cs_rdata = 32'(CLASS_REV);
      CONFIG_LATENCY: cs_rdata = {16'd0, latency_timer, cache_line_q};
      CONFIG_BAR0: cs_rdata = bar_base;
      CONFIG_INTERRUPT: cs_rdata = {16'd0, 8'h01, interrupt_line};  // INTA#
      default: cs_rdata = 32'd0;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      bar_base <= cfg_base & BAR_MASK;
      mem_enable <= cfg_enabled;
      master_enable <= cfg_enabled;
      {latency_timer, cache_line_q, interrupt_line} <= '0;
    end else if (cs_write) begin
      case (cs_reg)
        CONFIG_COMMAND: if (cs_be[0]) {master_enable, mem_enable} <= cs_wdata[2:1];
        CONFIG_LATENCY: begin
          if (cs_be[0]) cache_line_q <= cs_wdata[7:0];
          if (cs_be[1]) latency_timer <= cs_wdata[15:8];
        end
        CONFIG_BAR0:
        bar_base <= {
          cs_be[3] ? cs_wdata[31:24] : bar_base[31:24],
          cs_be[2] ? cs_wdata[23:16] : bar_base[23:16],
          cs_be[1] ? cs_wdata[15:8] : bar_base[15:8],
          cs_be[0] ? cs_wdata[7:0] : bar_base[7:0]
        } & BAR_MASK;
        CONFIG_INTERRUPT: if (cs_be[0]) interrupt_line <= cs_wdata[7:0];
        default: ;
      endcase
    end
  end
endmodule
