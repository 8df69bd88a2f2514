// One direction of a PCI-to-PCI bridge: repeats transactions of the bus on which it is target on the bus on which it is
// master. Each bus has its own clock.
//
// Writes are posted. Consecutive beats form one burst of at most CHUNK lane groups. The burst starts on the far bus
// when it is complete: when it is full, when the next beat does not follow it, or when no beat has arrived for QUIET
// clocks. Reads are answered with retries until their data have arrived. All data that the target's hint names are
// fetched, so both buses must be free of read side effects; unrequested data are dropped.
// Ordering, as in PCI: transactions are repeated in the order of arrival, so a read pushes earlier writes ahead of it.
// An answer waits until the writes that were posted earlier in the other direction are done.
// Timing: a burst of writes costs its own time on each bus plus the crossing; a read adds the crossing back.
module myri_pci_pass
  import myri_pci_pkg::*;
#(
    parameter int CHUNK = 32,  // lane groups of a burst of writes at most; half of what is stored
    parameter int QUIET = 4    // clocks without a beat that end a burst
) (
    input logic [3:0] cfg_latency,  // latency of the crossings
    input logic s_clk,  // clock of the bus on which it is target
    input logic s_rst,  // synchronous reset
    input logic tw_valid,  // write beat
    output logic tw_ready,  // accepted
    input pci_write_t tw,  // the beat
    input logic tread_valid,  // read request
    output logic tread_ready,  // accepted
    input pci_read_t tread,  // the request
    output logic td_valid,  // its answer
    output logic [63:0] td_data,  // byte lanes
    output logic [7:0] opened,  // write bursts begun here, modulo 256
    input logic [7:0] back_done,  // write bursts of the other direction done on this bus
    output logic s_busy,  // 1 = a further clock edge is needed
    input logic m_clk,  // clock of the bus on which it is master
    input logic m_rst,  // synchronous reset
    output logic mc_valid,  // command
    input logic mc_ready,  // accepted
    output pci_transfer_t mc,  // the command
    output logic mw_valid,  // write beat
    input logic mw_ready,  // accepted
    output logic [63:0] mw_data,  // byte lanes
    input logic mr_valid,  // read beat
    output logic mr_ready,  // accepted
    input logic [63:0] mr_data,  // byte lanes
    input logic m_done,  // strobe: the command has finished
    output logic [7:0] done,  // write bursts done on this bus, modulo 256
    input logic [7:0] back_opened,  // write bursts of the other direction begun on this bus
    output logic m_busy  // 1 = a further clock edge is needed
);
  localparam int DEPTH_LOG2 = $clog2(2 * CHUNK);

  // ---------------------------------------------------------------- source: bursts of writes
  logic c_valid, c_ready, w_ready;
  pci_transfer_t c;
  logic open_q, joins, ends, take, straight_q, emit;
  logic [31:0] from_q, next_q;
  logic [9:0] bytes_q;
  logic [6:0] beats_q;
  logic [2:0] quiet_q, lowest;
  logic [3:0] count;
  logic [7:0] be;
  assign be = tw.be;
  assign joins = open_q && tw.addr == next_q && straight_q && tw.be[0] && beats_q != 7'(CHUNK);
  assign ends = open_q && (tw_valid ? !joins : tread_valid || quiet_q == 3'(QUIET - 1));
  assign emit = ends && c_ready;
  assign take = tw_valid && w_ready && (joins || !open_q || emit);
  assign tw_ready = take;
  always_comb begin
    lowest = '0;
    count  = '0;
    for (int i = 7; i >= 0; i--) if (be[i]) lowest = 3'(i);
    for (int i = 0; i < 8; i++) count = count + {3'd0, be[i]};
  end
  always_ff @(posedge s_clk) begin
    if (s_rst) begin
      open_q <= 1'b0;
      straight_q <= 1'b0;
      from_q <= '0;
      next_q <= '0;
      bytes_q <= '0;
      beats_q <= '0;
      quiet_q <= '0;
      opened <= '0;
    end else begin
      quiet_q <= open_q && !tw_valid ? quiet_q + 3'd1 : '0;
      if (quiet_q == 3'(QUIET - 1) && !c_ready) quiet_q <= quiet_q;
      if (emit) open_q <= 1'b0;
      if (take) begin
        open_q <= 1'b1;
        straight_q <= tw.be[7];
        next_q <= tw.addr + 32'd8;
        bytes_q <= (joins ? bytes_q : '0) + {6'd0, count};
        beats_q <= (joins ? beats_q : '0) + 7'd1;
        if (!joins) begin
          from_q <= tw.addr + {29'd0, lowest};
          opened <= opened + 8'd1;
        end
      end
    end
  end

  // ---------------------------------------------------------------- source: reads
  logic ask, fresh_q, dropping_q, a_valid, a_ready, due;
  logic taking;  // answers leave their crossing, to be returned or dropped
  logic [3:0] ahead_q;  // lane groups fetched but not yet requested
  logic [3:0] waiting_q;  // requested but not yet answered
  logic [31:0] expected_q;
  logic [3:0] groups;
  pci_answer_t answer;
  logic [7:0] behind;
  assign groups = tread.bytes <= 8'd16 ? 4'd1 : tread.bytes[6:3];
  assign tread_ready = tread_valid && ahead_q != '0 && tread.addr == expected_q &&
      (fresh_q || !tread.first) && !dropping_q;
  assign ask = tread_valid && ahead_q == '0 && !open_q && !tw_valid && waiting_q == '0 && !dropping_q;
  assign behind = back_done - answer.opened;
  assign due = a_valid && (dropping_q || !behind[7]);
  assign a_ready = dropping_q || waiting_q != '0 ? due : 1'b0;
  assign td_valid = due && !dropping_q && waiting_q != '0;
  assign td_data = answer.data;
  always_ff @(posedge s_clk) begin
    if (s_rst) begin
      fresh_q <= 1'b0;
      dropping_q <= 1'b0;
      ahead_q <= '0;
      waiting_q <= '0;
      expected_q <= '0;
    end else begin
      if (ask && c_ready) begin
        ahead_q <= groups;
        expected_q <= tread.addr;
        fresh_q <= 1'b1;
      end else if (tread_ready) begin
        ahead_q <= ahead_q - 4'd1;
        expected_q <= expected_q + 32'd8;
        fresh_q <= 1'b0;
      end else if (dropping_q && a_valid) ahead_q <= ahead_q - 4'd1;
      waiting_q <= waiting_q + {3'd0, tread_ready} - {3'd0, td_valid};
      if (dropping_q) dropping_q <= !(a_valid && ahead_q == 4'd1);
      else dropping_q <= tread_valid && ahead_q != '0 && !tread_ready && waiting_q == '0;
    end
  end
  assign c_valid = ends || ask;
  assign c.write = ends;
  assign c.addr  = ends ? from_q : tread.addr;
  assign c.bytes = ends ? {6'd0, bytes_q} : {9'd0, groups, 3'd0};

  // ---------------------------------------------------------------- crossings
  logic [2:0] s_side, m_side;
  logic g_valid, g_ready, r_ready;
  logic d_valid, d_ready;
  myri_cdc_fifo #(
      .WIDTH($bits(pci_transfer_t)),
      .DEPTH_LOG2(3)
  ) u_commands (
      .cfg_latency,
      .w_clk  (s_clk),
      .w_rst  (s_rst),
      .w_valid(c_valid),
      .w_ready(c_ready),
      .w_data (c),
      .w_busy (s_side[0]),
      .r_clk  (m_clk),
      .r_rst  (m_rst),
      .r_valid(g_valid),
      .r_ready(g_ready),
      .r_data (mc),
      .r_busy (m_side[0])
  );
  myri_cdc_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(DEPTH_LOG2)
  ) u_writes (
      .cfg_latency,
      .w_clk  (s_clk),
      .w_rst  (s_rst),
      .w_valid(take),
      .w_ready(w_ready),
      .w_data (tw.data),
      .w_busy (s_side[1]),
      .r_clk  (m_clk),
      .r_rst  (m_rst),
      .r_valid(d_valid),
      .r_ready(d_ready),
      .r_data (mw_data),
      .r_busy (m_side[1])
  );
  myri_cdc_fifo #(
      .WIDTH($bits(pci_answer_t)),
      .DEPTH_LOG2(4)
  ) u_answers (
      .cfg_latency,
      .w_clk  (m_clk),
      .w_rst  (m_rst),
      .w_valid(mr_valid),
      .w_ready(r_ready),
      .w_data ({back_opened, mr_data}),
      .w_busy (m_side[2]),
      .r_clk  (s_clk),
      .r_rst  (s_rst),
      .r_valid(a_valid),
      .r_ready(a_ready),
      .r_data (answer),
      .r_busy (s_side[2])
  );

  // ---------------------------------------------------------------- destination: commands in order
  logic running_q, writing_q, over_q;
  logic [13:0] left_q;  // read beats still expected
  assign mc_valid = g_valid && !running_q;
  assign g_ready  = mc_valid && mc_ready;
  assign mw_valid = d_valid && running_q && writing_q;
  assign d_ready  = running_q && writing_q && mw_ready;
  assign mr_ready = r_ready;
  always_ff @(posedge m_clk) begin
    if (m_rst) begin
      running_q <= 1'b0;
      writing_q <= 1'b0;
      over_q <= 1'b0;
      left_q <= '0;
      done <= '0;
    end else if (g_ready) begin
      running_q <= 1'b1;
      writing_q <= mc.write;
      over_q <= 1'b0;
      left_q <= mc.write ? '0 : {1'b0, mc.bytes[15:3]};
    end else if (running_q) begin
      over_q <= over_q || m_done;
      if (mr_valid && r_ready) left_q <= left_q - 14'd1;
      if ((over_q || m_done) && (left_q == '0 || (left_q == 14'd1 && mr_valid && r_ready))) begin
        running_q <= 1'b0;
        if (writing_q) done <= done + 8'd1;
      end
    end
  end

  assign taking = dropping_q || (waiting_q != '0 && due);
  assign s_busy = open_q || tw_valid || tread_valid || s_side != '0 || taking;
  assign m_busy = running_q || g_valid || m_side != '0;

  logic unused;
  assign unused = &{1'b0, behind[6:0]};
endmodule
