  // Monitor of the SRAM of a card whose NIC `nic` has a `myri_sram_arbiter`, in builds with monitors. Requesters are in
  // the order of `SramPorts.requesters` of the kind.
  if (`SIM_NIC_MONITOR != 0) begin : gen_monitor
    sram_request_t pio_sram, dma_sram, rx_sram, tx_sram;
    sram_read_t pio_read, dma_read, tx_read;
    assign pio_sram = nic.pio_sram;
    assign dma_sram = nic.dma_sram;
    assign rx_sram = nic.rx_sram;
    assign tx_sram = nic.tx_sram;
    assign pio_read = nic.pio_read;
    assign dma_read = nic.dma_read;
    assign tx_read = nic.tx_read;
    logic unused_monitor;
    assign unused_monitor = ^{pio_sram, dma_sram, rx_sram, tx_sram};
    sim_sram_monitor #(
        .UNIT(BASE + PART_SRAM)
    ) monitor (
        .clk,
        .rst,
        .mem_a,
        .mem_a_rdata,
        .mem_b,
        .mem_b_rdata,
        .requests({cpu_sram.req, tx_sram.req, rx_sram.req, dma_sram.req, pio_sram.req}),
        .on_a(nic.u_arbiter.on_a),
        .on_b(nic.u_arbiter.on_b),
        .valid({cpu_read.valid, tx_read.valid, 1'b0, dma_read.valid, pio_read.valid}),
        .read({cpu_read.data, tx_read.data, 64'd0, dma_read.data, pio_read.data}),
        .busy(monitor_busy)
    );
  end else begin : gen_no_monitor
    assign monitor_busy = 1'b0;
  end
