// The PCI segment of a node with its run-time settings: one slot, the NIC's.
module sim_segment
  import myri_pci_pkg::*;
  import sim_settings_pkg::*;
#(
    parameter int UNIT = 0  // settings unit of the node
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [            47:0] cycle,
    output logic [ PCI_IN_BITS-1:0] slot_in,
    input  logic [PCI_OUT_BITS-1:0] slot_out,
    input  logic                    cpu_valid,
    output logic                    cpu_ready,
    input  logic                    cpu_write,
    input  logic [            31:0] cpu_addr,
    input  logic [            63:0] cpu_data,
    input  logic [             7:0] cpu_be,
    input  logic                    cpu_wc,
    input  logic                    cpu_fence,
    output logic                    cpu_rvalid,
    output logic [            63:0] cpu_rdata,
    output logic                    mem_valid,
    output logic                    mem_write,
    output logic [            31:0] mem_addr,
    output logic [            63:0] mem_wdata,
    output logic [             7:0] mem_be,
    input  logic [            63:0] mem_rdata,
    output logic                    intr,
    output logic                    idle_out,
    output logic                    idle_in,
    output logic                    tr_pio_start,
    output logic                    tr_pio_done,
    output logic                    conflict,
    output logic                    busy
);
  logic [0:0] wide;
  sim_setting #(.UNIT(UNIT), .KEY(SET_PCI_WIDE), .WIDTH(1)) set_wide (.clk, .rst, .value(wide));
  logic [0:0] m66;
  sim_setting #(.UNIT(UNIT), .KEY(SET_PCI_M66), .WIDTH(1)) set_m66 (.clk, .rst, .value(m66));
  logic [7:0] latency_timer;
  sim_setting #(.UNIT(UNIT), .KEY(SET_BRIDGE_LATENCY_TIMER), .WIDTH(8)) set_latency_timer (.clk, .rst, .value(latency_timer));
  logic [7:0] start_delay;
  sim_setting #(.UNIT(UNIT), .KEY(SET_BRIDGE_START_DELAY), .WIDTH(8)) set_start_delay (.clk, .rst, .value(start_delay));
  logic [4:0] post_depth;
  sim_setting #(.UNIT(UNIT), .KEY(SET_POST_DEPTH), .WIDTH(5)) set_post_depth (.clk, .rst, .value(post_depth));
  logic [6:0] wc_bytes;
  sim_setting #(.UNIT(UNIT), .KEY(SET_WC_BYTES), .WIDTH(7)) set_wc_bytes (.clk, .rst, .value(wc_bytes));
  logic [7:0] read_return;
  sim_setting #(.UNIT(UNIT), .KEY(SET_READ_RETURN), .WIDTH(8)) set_read_return (.clk, .rst, .value(read_return));
  logic [5:0] mem_log2;
  sim_setting #(.UNIT(UNIT), .KEY(SET_MEM_LOG2), .WIDTH(6)) set_mem_log2 (.clk, .rst, .value(mem_log2));
  logic [1:0] devsel;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_DEVSEL), .WIDTH(2)) set_devsel (.clk, .rst, .value(devsel));
  logic [3:0] up_write_initial;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_WRITE_INITIAL), .WIDTH(4)) set_up_write_initial (.clk, .rst, .value(up_write_initial));
  logic [3:0] up_read_initial;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_READ_INITIAL), .WIDTH(4)) set_up_read_initial (.clk, .rst, .value(up_read_initial));
  logic [2:0] up_subsequent;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_SUBSEQUENT), .WIDTH(3)) set_up_subsequent (.clk, .rst, .value(up_subsequent));
  logic [3:0] up_read_wait;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_READ_WAIT), .WIDTH(4)) set_up_read_wait (.clk, .rst, .value(up_read_wait));
  logic [2:0] up_stall_limit;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_STALL_LIMIT), .WIDTH(3)) set_up_stall_limit (.clk, .rst, .value(up_stall_limit));
  logic [7:0] up_max_phases;
  sim_setting #(.UNIT(UNIT), .KEY(SET_UP_MAX_PHASES), .WIDTH(8)) set_up_max_phases (.clk, .rst, .value(up_max_phases));
  logic [7:0] in_buffer;
  sim_setting #(.UNIT(UNIT), .KEY(SET_IN_BUFFER), .WIDTH(8)) set_in_buffer (.clk, .rst, .value(in_buffer));
  logic [7:0] drain_num;
  sim_setting #(.UNIT(UNIT), .KEY(SET_DRAIN_NUM), .WIDTH(8)) set_drain_num (.clk, .rst, .value(drain_num));
  logic [7:0] drain_den;
  sim_setting #(.UNIT(UNIT), .KEY(SET_DRAIN_DEN), .WIDTH(8)) set_drain_den (.clk, .rst, .value(drain_den));
  logic [7:0] read_latency;
  sim_setting #(.UNIT(UNIT), .KEY(SET_READ_LATENCY), .WIDTH(8)) set_read_latency (.clk, .rst, .value(read_latency));
  logic [3:0] extra_num;
  sim_setting #(.UNIT(UNIT), .KEY(SET_EXTRA_NUM), .WIDTH(4)) set_extra_num (.clk, .rst, .value(extra_num));
  logic [3:0] extra_den;
  sim_setting #(.UNIT(UNIT), .KEY(SET_EXTRA_DEN), .WIDTH(4)) set_extra_den (.clk, .rst, .value(extra_den));

  myri_pci_segment #(.SLOTS(1)) segment (
      .clk,
      .rst,
      .cycle,
      .slot_in,
      .slot_out,
      .slot_present(1'b1),
      .cfg_wide(wide),
      .cfg_m66(m66),
      .cfg_latency_timer(latency_timer),
      .cfg_start_delay(start_delay),
      .cfg_post_depth(post_depth),
      .cfg_wc_bytes(wc_bytes),
      .cfg_read_return(read_return),
      .cfg_mem_log2(mem_log2),
      .cfg_devsel(devsel),
      .cfg_up_write_initial(up_write_initial),
      .cfg_up_read_initial(up_read_initial),
      .cfg_up_subsequent(up_subsequent),
      .cfg_up_read_wait(up_read_wait),
      .cfg_up_stall_limit(up_stall_limit),
      .cfg_up_max_phases(up_max_phases),
      .cfg_in_buffer(in_buffer),
      .cfg_drain_num(drain_num),
      .cfg_drain_den(drain_den),
      .cfg_read_latency(read_latency),
      .cfg_extra_num(extra_num),
      .cfg_extra_den(extra_den),
      .cpu_valid,
      .cpu_ready,
      .cpu_write,
      .cpu_addr,
      .cpu_data,
      .cpu_be,
      .cpu_wc,
      .cpu_fence,
      .cpu_config(1'b0),
      .cpu_rvalid,
      .cpu_rdata,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .intr,
      .idle_out,
      .idle_in,
      .tr_pio_accept(),
      .tr_pio_start,
      .tr_pio_done,
      .tr_pio_error(),
      .tr_dma_first(),
      .tr_dma_last(),
      .tr_dma_write(),
      .ev_retry(),
      .ev_disconnect(),
      .wires(),
      .grants_n(),
      .requests_n(),
      .m66en(),
      .conflict,
      .count_data(),
      .count_busy(),
      .busy
  );
endmodule
