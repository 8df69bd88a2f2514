    // Ports of a host bridge at which a bench acts as the host's CPU and memory.
    input logic cpu_valid,  // CPU access
    output logic cpu_ready,  // accepted
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // write-combining memory
    input logic cpu_fence,  // wait until combined stores are posted
    input logic cpu_config,  // configuration cycle (type 0, address as on AD)
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // byte lanes
    output logic mem_valid,  // host memory access
    output logic mem_write,  // 1 = write
    output logic [31:0] mem_addr,  // 8-byte aligned
    output logic [63:0] mem_wdata,  // byte lanes
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // valid one clock after a read
