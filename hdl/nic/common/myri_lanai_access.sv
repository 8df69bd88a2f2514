// Access to the special registers of a LANai, one per clock, from two ports: the processor, always served, and the
// host, served in clocks without an access of the processor. Also contains the registers common to both LANais: errors
// and lost packets.
//
// Timing: the access happens in the same clock; counts include events up to the last edge.
module myri_lanai_access
  import myri_nic_engines_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input reg_request_t cpu_reg,  // special registers: access of the processor
    output logic [31:0] cpu_reg_rdata,  // read data, same clock
    input reg_request_t host_reg,  // special registers: access of the host
    output logic host_reg_ready,  // access done in this clock
    output logic [31:0] host_reg_rdata,  // read data, same clock
    output logic access,  // a register is accessed
    output logic write,  // and written
    output logic [8:0] addr,  // offset
    output logic [31:0] value,  // write data
    input logic [31:0] rdata,  // read data
    input logic w_errors,  // ERRORS is written: bits given as 1 are cleared
    input logic [31:0] set_errors,  // strobes: bits to set in ERRORS
    input logic recv_lost,  // strobe, counted in RECV_LOST
    output logic [31:0] errors,  // ERRORS
    output logic [31:0] lost  // RECV_LOST
);
  assign host_reg_ready = host_reg.valid && !cpu_reg.valid;
  assign access = cpu_reg.valid || host_reg.valid;
  assign write = cpu_reg.valid ? cpu_reg.write : host_reg.valid && host_reg.write;
  assign addr = cpu_reg.valid ? cpu_reg.addr : host_reg.addr;
  assign value = cpu_reg.valid ? cpu_reg.wdata : host_reg.wdata;
  assign cpu_reg_rdata = rdata;
  assign host_reg_rdata = rdata;

  always_ff @(posedge clk) begin
    if (rst) begin
      errors <= 32'd0;
      lost   <= 32'd0;
    end else begin
      errors <= (errors & ~(w_errors ? value : 32'd0)) | set_errors;
      if (recv_lost) lost <= lost + 32'd1;
    end
  end
endmodule
