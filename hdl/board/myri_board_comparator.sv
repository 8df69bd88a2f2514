// Comparator of a polled word of host memory: latches the word and the cycle at which it meets a condition.
//
// The condition is tested when MODE is written, with the word that the memory had then (`load`, one clock later), and at
// each write of the NIC to the word. Bytes that a write leaves alone are those of the last test.
// Timing: `hit` rises with the edge after the write.
module myri_board_comparator
  import myri_board_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic write,  // register write
    input logic [4:0] offset,  // register, COMPARATOR_*
    input logic [31:0] wdata,  // write data
    output logic [31:0] rdata,  // the register at `offset`
    input logic load,  // one clock after a write of MODE: the watched word is on load_data
    input logic [31:0] load_data,  // the word
    input logic mem_write,  // the NIC writes host memory in this clock
    input logic [31:0] mem_addr,  // 8-byte aligned
    input logic [7:0] mem_be,  // lanes
    input logic [63:0] mem_wdata,  // lanes
    output logic [31:0] address,  // watched word
    output logic hit  // 1 = the condition was met since MODE was written
);
  logic [31:0] value_q, mask_q;
  logic [ 1:0] mode_q;
  logic [31:0] word_q;  // the word as of the last test
  logic [ 3:0] known_q;  // bytes written by the NIC since MODE was written
  logic [47:0] cycle_q;
  logic touched, arm, equal, met, tested;
  logic [3:0] lanes;
  logic [31:0] written, word;

  assign arm = write && offset == COMPARATOR_MODE;
  assign touched = mem_write && mem_addr[31:3] == address[31:3] && lanes != 4'd0;
  assign lanes = address[2] ? mem_be[7:4] : mem_be[3:0];
  assign written = address[2] ? mem_wdata[63:32] : mem_wdata[31:0];
  for (genvar i = 0; i < 4; i++) begin : gen_byte
    assign word[8*i+:8] = touched && lanes[i] ? written[8*i+:8] :
        load && !known_q[i] ? load_data[8*i+:8] : word_q[8*i+:8];
  end
  assign equal = ((word ^ value_q) & mask_q) == 32'd0;
  assign tested = mode_q != COMPARE_OFF && (touched || (load && mode_q != COMPARE_WRITTEN));
  assign met = tested && (mode_q == COMPARE_WRITTEN || equal == (mode_q == COMPARE_EQUAL));

  always_ff @(posedge clk) begin
    if (rst) begin
      address <= 32'd0;
      value_q <= 32'd0;
      mask_q  <= 32'd0;
    end else if (write) begin
      case (offset)
        COMPARATOR_ADDRESS: address <= {wdata[31:2], 2'b00};
        COMPARATOR_VALUE: value_q <= wdata;
        COMPARATOR_MASK: mask_q <= wdata;
        default: begin
        end
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      mode_q  <= COMPARE_OFF;
      hit     <= 1'b0;
      known_q <= 4'd0;
      word_q  <= 32'd0;
      cycle_q <= 48'd0;
    end else if (arm) begin
      mode_q  <= wdata[1:0];
      hit     <= 1'b0;
      // The memory's read port may miss a write of the NIC at this edge.
      known_q <= touched ? lanes : 4'd0;
      word_q  <= word;
      cycle_q <= cycle;
    end else begin
      if (touched) known_q <= known_q | lanes;
      if (!hit) begin
        word_q <= word;
        // A word that matched already when MODE was written has the cycle of that edge.
        if (met) begin
          hit <= 1'b1;
          if (touched) cycle_q <= cycle;
        end
      end
    end
  end

  always_comb begin
    case (offset)
      COMPARATOR_ADDRESS: rdata = address;
      COMPARATOR_VALUE: rdata = value_q;
      COMPARATOR_MASK: rdata = mask_q;
      COMPARATOR_MODE: rdata = {30'd0, mode_q};
      COMPARATOR_HIT: rdata = {31'd0, hit};
      COMPARATOR_SEEN: rdata = word_q;
      COMPARATOR_CYCLE_LOW: rdata = cycle_q[31:0];
      COMPARATOR_CYCLE_HIGH: rdata = {16'd0, cycle_q[47:32]};
      default: rdata = 32'd0;
    endcase
  end

  logic unused;
  assign unused = ^mem_addr[2:0];
endmodule
