// Port of a node for the board's bus: programmed I/O to the NIC, host memory, and the node's registers.
//
// Timing: a register is answered in the clock of the access, host memory one clock later, programmed I/O when its
// transaction on the PCI bus has finished. A write of a comparator's MODE reads the watched word in the same clock.
module myri_board_port
  import myri_board_pkg::*;
#(
    parameter int MEMORY_LOG2 = 16  // bytes of host memory
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [7:0] window,  // bits 31:24 of the NIC's PCI address; static
    input logic at_valid,  // access, until at_ready
    output logic at_ready,  // it ends in this clock
    input logic at_write,  // 1 = write
    input logic [3:0] at_region,  // REGION_*
    input logic [23:0] at_offset,  // byte offset
    input logic [31:0] at_wdata,  // write data
    output logic [31:0] at_rdata,  // read data, with at_ready
    output logic at_error,  // the access has failed, with at_ready
    output logic cpu_valid,  // CPU port of the PCI segment
    input logic cpu_ready,  // accepted at the coming edge
    output logic cpu_write,  // 1 = write
    output logic [31:0] cpu_addr,  // byte address
    output logic [63:0] cpu_data,  // write data
    output logic [7:0] cpu_be,  // byte enables
    input logic cpu_rvalid,  // strobe: read data
    input logic [63:0] cpu_rdata,  // read data
    input logic pio_done,  // strobe: a transaction has finished
    input logic pio_error,  // with it: no target has answered
    output logic mem_valid,  // bus port of the host memory
    input logic mem_ready,  // accepted at the coming edge
    output logic mem_write,  // 1 = write
    output logic [MEMORY_LOG2-1:0] mem_addr,  // byte address
    output logic [31:0] mem_wdata,  // write data
    input logic [31:0] mem_rdata,  // read data
    output logic [COMPARATORS-1:0] compare_write,  // register write, of each comparator
    output logic [4:0] compare_offset,  // its register
    input logic [32*COMPARATORS-1:0] compare_rdata,  // the register, of each comparator
    input logic [32*COMPARATORS-1:0] compare_address,  // watched address
    output logic [COMPARATORS-1:0] compare_load,  // mem_rdata is the watched word
    output logic status_clear,  // strobe: clear the sticky bits of STATUS
    input logic [31:0] fault,  // registers of the node
    input logic [31:0] pc,  // register of the node
    input logic [31:0] isr,  // register of the node
    input logic [31:0] node_status  // register of the node
);
  localparam int INDEX_BITS = $clog2(COMPARATORS);

  typedef enum logic [2:0] {
    IDLE,
    PIO,
    PIO_END,
    MEMORY_END,
    ARM_END
  } state_t;
  state_t state_q;
  logic failed_q, failed;
  logic of_nic, of_memory, of_comparator, of_register, arming, outside;
  logic [INDEX_BITS-1:0] index;
  logic [COMPARATORS-1:0] chosen;
  logic [31:0] register;

  assign of_nic = at_region == REGION_NIC;
  assign of_memory = at_region == REGION_MEMORY && at_offset[23:MEMORY_LOG2] == '0;
  assign of_comparator = at_region == REGION_NODE && at_offset[23:7] == {12'd0, COMPARATOR_BASE[11:7]};
  assign of_register = at_region == REGION_NODE && at_offset[23:4] == 20'd0;
  assign outside = !of_nic && !of_memory && !of_comparator && !of_register;
  assign index = at_offset[5+:INDEX_BITS];
  assign chosen = COMPARATORS'(1) << index;
  assign compare_offset = at_offset[4:0];
  assign arming = of_comparator && at_write && compare_offset == COMPARATOR_MODE;
  assign failed = pio_done ? pio_error : failed_q;

  assign cpu_valid = state_q == PIO;
  assign cpu_write = at_write;
  assign cpu_addr = {window, at_offset[23:3], 3'd0};
  assign cpu_data = {at_wdata, at_wdata};
  assign cpu_be = at_offset[2] ? 8'hF0 : 8'h0F;

  assign mem_valid = state_q == IDLE && at_valid && (of_memory || arming);
  assign mem_write = of_memory && at_write;
  assign mem_addr = arming ? compare_address[{index, 5'd0}+:MEMORY_LOG2] : at_offset[MEMORY_LOG2-1:0];
  assign mem_wdata = at_wdata;
  assign status_clear = state_q == IDLE && at_valid && at_write && of_register && at_offset[11:0] == NODE_STATUS;

  always_comb begin
    compare_write = '0;
    if (state_q == IDLE && at_valid && at_write && of_comparator && (mem_ready || !arming))
      compare_write = chosen;
    compare_load = state_q == ARM_END ? chosen : '0;
  end

  always_comb begin
    case (at_offset[11:0])
      NODE_FAULT: register = fault;
      NODE_PC: register = pc;
      NODE_ISR: register = isr;
      default: register = node_status;
    endcase
  end

  always_comb begin
    at_ready = 1'b0;
    at_error = 1'b0;
    at_rdata = register;
    case (state_q)
      IDLE: begin
        at_ready = at_valid && (outside || of_register || (of_comparator && !arming));
        at_error = outside;
        if (of_comparator) at_rdata = compare_rdata[{index, 5'd0}+:32];
      end
      PIO_END: begin
        at_ready = at_write ? pio_done : cpu_rvalid;
        at_error = failed;
        at_rdata = at_offset[2] ? cpu_rdata[63:32] : cpu_rdata[31:0];
      end
      MEMORY_END, ARM_END: begin
        at_ready = 1'b1;
        at_rdata = mem_rdata;
      end
      default: at_ready = 1'b0;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q  <= IDLE;
      failed_q <= 1'b0;
    end else begin
      case (state_q)
        IDLE: begin
          failed_q <= 1'b0;
          if (at_valid && of_nic) state_q <= PIO;
          else if (mem_valid && mem_ready) state_q <= arming ? ARM_END : MEMORY_END;
        end
        PIO: if (cpu_ready) state_q <= PIO_END;
        PIO_END: begin
          failed_q <= failed;
          if (at_ready) state_q <= IDLE;
        end
        default: state_q <= IDLE;
      endcase
    end
  end
endmodule
