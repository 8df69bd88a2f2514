// Intelligent I/O card: PCI target and master with a message unit by the I2O model, local memory and a DMA engine. Its
// processor is outside, at the port `cpu_*`; so is the memory.
//
// Window of 8 MB: the message unit's registers (IoReg) in the first 4 KB, local memory behind them. The processor has the
// same addresses, with its own set of registers.
// Timing: see myri_io_messages, myri_io_dma and myri_io_memory.
module myri_io_card
  import myri_io_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output logic busy,  // 1 = a further clock edge is needed
    output logic in_flight,  // 1 = a DMA transfer is unfinished
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    input pci_card_settings_t cfg,  // PCI configuration of the card
    input sram_request_t cpu_sram,  // access of the processor: a register, or local memory
    output logic cpu_gnt,  // granted
    output sram_read_t cpu_read,  // its data
    output logic cpu_irq,  // level: interrupt of the processor
    output sram_request_t mem_sram,  // local memory: an access in this clock
    input logic [63:0] mem_rdata,  // read data, one clock later
    output pci_device_trace_t trace  // events of the clock before
);
  logic device_busy, reads_busy, messages_busy, dma_busy, memory_busy, master_enable, inta;
  logic tw_valid, tw_ready, tread_valid, tread_ready, td_valid;
  logic mc_valid, mc_ready, mw_valid, mw_ready, mr_valid, mr_ready, m_done, m_error;
  pci_write_t tw;
  pci_read_t tread;
  pci_transfer_t mc;
  logic [63:0] td_data, mw_data, mr_data;
  myri_pci_device #(
      .VENDOR(32'h8086),
      .DEVICE(32'h1960),
      .CLASS_REV(32'h0E00_0100),
      .BAR_LOG2(23)
  ) u_device (
      .pci_gated_clk({PCI_SIDES{clk}}),
      .pci_gated_needed(),
      .busy(device_busy),
      .rst,
      .cycle,
      .pci_in,
      .pci_out,
      .cfg,
      .inta,
      .master_enable,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .trace,
      .mc_valid,
      .mc_ready,
      .mc,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .m_error
  );
  logic [1:0] port_read;
  myri_io_reads u_reads (
      .busy(reads_busy),
      .clk,
      .rst,
      .pci_in,
      .pci_out,
      .port_read
  );

  // ---- window: registers or memory ----
  logic w_register, r_register, hw_ready, hr_ready, register_due_q, c_register, register_read_q;
  logic bus_write_gnt, bus_read_gnt, memory_gnt;
  logic [63:0] hr_data;
  logic [31:0] register_rdata;
  sram_request_t bus_write_sram, bus_read_sram, processor_sram;
  sram_read_t bus_read_read, processor_read;
  assign w_register = tw.addr[22:12] == '0;
  assign r_register = tread.addr[22:12] == '0;
  assign c_register = cpu_sram.addr[22:12] == '0;
  assign tw_ready = w_register ? hw_ready : bus_write_gnt;
  assign tread_ready = r_register ? hr_ready : bus_read_gnt;
  assign td_valid = register_due_q || bus_read_read.valid;
  assign td_data = register_due_q ? hr_data : bus_read_read.data;
  assign bus_write_sram.req = tw_valid && !w_register;
  assign bus_write_sram.write = 1'b1;
  assign bus_write_sram.addr = tw.addr[22:0];
  assign bus_write_sram.be = tw.be;
  assign bus_write_sram.wdata = tw.data;
  assign bus_read_sram.req = tread_valid && !r_register;
  assign bus_read_sram.write = 1'b0;
  assign bus_read_sram.addr = tread.addr[22:0];
  assign bus_read_sram.be = '0;
  assign bus_read_sram.wdata = '0;
  assign processor_sram.req = cpu_sram.req && !c_register;
  assign processor_sram.write = cpu_sram.write;
  assign processor_sram.addr = {cpu_sram.addr[22:3], 3'd0};
  assign processor_sram.be = cpu_sram.be;
  assign processor_sram.wdata = cpu_sram.wdata;
  assign cpu_gnt = cpu_sram.req && (c_register || memory_gnt);
  assign cpu_read.valid = processor_read.valid || register_read_q;
  assign cpu_read.data = register_read_q ? {2{register_rdata}} : processor_read.data;
  always_ff @(posedge clk) begin
    if (rst) begin
      register_due_q  <= 1'b0;
      register_read_q <= 1'b0;
    end else begin
      register_due_q  <= tread_valid && r_register && hr_ready;
      register_read_q <= cpu_sram.req && c_register && !cpu_sram.write;
    end
  end

  // ---- message unit, DMA engine, memory ----
  logic dma_start, dma_active, dma_done, queue_gnt, dma_gnt;
  logic [22:0] dma_descriptor;
  io_dma_cause_t dma_cause;
  sram_request_t queue_sram, dma_sram;
  sram_read_t queue_read, dma_read;
  myri_io_messages u_messages (
      .hw_valid(tw_valid && w_register),
      .hw_addr(tw.addr[11:0]),
      .hw_data(tw.data),
      .hw_be(tw.be),
      .hr_valid(tread_valid && r_register),
      .hr_addr(tread.addr[11:0]),
      .cpu_req(cpu_sram.req && c_register),
      .cpu_write(cpu_sram.write),
      .cpu_addr(cpu_sram.addr[11:0]),
      .cpu_wdata(cpu_sram.addr[2] ? cpu_sram.wdata[63:32] : cpu_sram.wdata[31:0]),
      .cpu_rdata(register_rdata),
      .busy(messages_busy),
      .clk,
      .rst,
      .hw_ready,
      .hr_ready,
      .hr_data,
      .port_read,
      .queue_sram,
      .queue_gnt,
      .queue_read,
      .dma_start,
      .dma_descriptor,
      .dma_active,
      .dma_done,
      .dma_cause,
      .inta,
      .cpu_irq
  );
  myri_io_dma u_dma (
      .start(dma_start),
      .descriptor(dma_descriptor),
      .active(dma_active),
      .done(dma_done),
      .cause(dma_cause),
      .busy(dma_busy),
      .clk,
      .rst,
      .dma_sram,
      .dma_gnt,
      .dma_read,
      .mc_valid,
      .mc_ready,
      .mc,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .m_error
  );
  myri_io_memory u_memory (
      .cpu_sram(processor_sram),
      .cpu_gnt(memory_gnt),
      .cpu_read(processor_read),
      .busy(memory_busy),
      .clk,
      .rst,
      .bus_write_sram,
      .bus_write_gnt,
      .queue_sram,
      .queue_gnt,
      .queue_read,
      .dma_sram,
      .dma_gnt,
      .dma_read,
      .bus_read_sram,
      .bus_read_gnt,
      .bus_read_read,
      .mem_sram,
      .mem_rdata
  );
  assign in_flight = dma_active || dma_start;
  assign busy = device_busy || reads_busy || messages_busy || dma_busy || memory_busy || register_due_q
      || register_read_q;

  logic unused;
  assign unused = &{1'b0, master_enable, tw.addr[31:23], tread.addr[31:23], tread.bytes, tread.first};
endmodule
