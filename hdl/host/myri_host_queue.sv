// Fall-through queue: an entry may leave in the clock in which it arrives; otherwise it waits in a FIFO.
// The caller limits the number of waiting entries to the depth (the write side has no ready).
module myri_host_queue #(
    parameter int WIDTH      = 8,  // bits of an entry
    parameter int DEPTH_LOG2 = 4   // entries = 2**DEPTH_LOG2
) (
    input  logic             clk,      // clock
    input  logic             rst,      // synchronous, active high
    input  logic             w_valid,  // entry
    input  logic [WIDTH-1:0] w_data,   // entry
    output logic             r_valid,  // oldest entry
    input  logic             r_ready,  // accepted
    output logic [WIDTH-1:0] r_data,   // oldest entry
    output logic             needed    // 1 = the coming edge changes state
);
  logic f_valid, f_ready;
  logic [WIDTH-1:0] f_data;
  logic [DEPTH_LOG2:0] f_level;

  assign r_valid = f_valid | w_valid;
  assign r_data  = f_valid ? f_data : w_data;

  myri_fifo #(
      .WIDTH(WIDTH),
      .DEPTH_LOG2(DEPTH_LOG2)
  ) u_fifo (
      .clk,
      .rst,
      .w_data,
      .r_ready,
      .w_valid(w_valid & (f_valid | ~r_ready)),
      .w_ready(f_ready),
      .r_valid(f_valid),
      .r_data(f_data),
      .level(f_level),
      .busy(needed)
  );

  logic unused;
  assign unused = &{1'b0, f_ready, f_level};
endmodule
