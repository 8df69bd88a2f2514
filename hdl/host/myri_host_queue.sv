// Fall-through queue: what comes in may go out in the same clock; else it waits in a FIFO.
// The caller keeps the number of waiting entries below the depth (there is no ready on the write side).
module myri_host_queue #(
    parameter int WIDTH      = 8,  // bits of an entry
    parameter int DEPTH_LOG2 = 4   // entries = 2**DEPTH_LOG2
) (
    input  logic             clk,      // clock
    input  logic             rst,      // synchronous, active high
    input  logic             w_valid,  // entry
    input  logic [WIDTH-1:0] w_data,   // entry
    output logic             r_valid,  // oldest entry
    input  logic             r_ready,  // taken
    output logic [WIDTH-1:0] r_data,   // oldest entry
    output logic             needed    // the coming edge changes something
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
