// Prefetch buffer of a LANai's processor: words of SRAM, indexed by their lowest address bits, and the next word to
// fetch. Priority: the instruction to execute, the next one, the one after it.
//
// The prefetch depth of a LANai is not published, so `cfg_fetch_log2` is an assumption. Stores to words that are in the
// buffer are not noticed. Timing: an instruction is available in the clock in which its word arrives.
module myri_lanai_fetch
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int WORDS = 8    // of the buffer at most, a power of two from 2 on
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset: the buffer is empty
    input logic [1:0] cfg_fetch_log2,  // 2**cfg_fetch_log2 words are used, from 2 on
    input logic [23:0] sram_bytes,  // size of the SRAM; nothing is fetched beyond
    input logic [31:0] at,  // address of the instruction to execute
    input logic [31:0] after,  // address of the next instruction
    input logic [31:0] behind,  // address of the instruction after it
    input logic moves,  // the next instruction is executed in the next clock
    output logic have,  // the instruction is available
    output logic [31:0] word,  // the instruction
    output logic fetch,  // a word is requested
    output logic [22:0] addr,  // address of the claimed read
    input logic gnt,  // grant
    input sram_read_t cpu_read  // read data, one clock later
);
  localparam int LANE = $clog2(WIDTH / 8);
  localparam int TAG = 23 - LANE;  // bits of a word's address
  localparam int PLACE = $clog2(WORDS);
  logic [PLACE-1:0] used;  // address bits that give the place
  assign used = PLACE'((1 << cfg_fetch_log2) - 1);

  logic [WORDS-1:0] full_q;
  logic [TAG-1:0] tag_q[WORDS];
  logic [WIDTH-1:0] word_q[WORDS];
  logic arriving_q;  // a fetched word arrives in this clock
  logic at_arrives_q;  // likewise, and it is the one with the instruction to execute
  logic [TAG-1:0] arriving_tag_q;

  logic [TAG-1:0] at_tag, after_tag, behind_tag, want;
  logic [PLACE-1:0] at_place, after_place, behind_place, arriving_place, want_place;
  logic at_here, after_here, behind_here;
  logic [WIDTH-1:0] there;
  assign at_tag = at[22:LANE];
  assign after_tag = after[22:LANE];
  assign behind_tag = behind[22:LANE];
  assign at_place = at_tag[PLACE-1:0] & used;
  assign after_place = after_tag[PLACE-1:0] & used;
  assign behind_place = behind_tag[PLACE-1:0] & used;
  assign arriving_place = arriving_tag_q[PLACE-1:0] & used;
  assign want_place = want[PLACE-1:0] & used;
  assign at_here = at_arrives_q || (full_q[at_place] && tag_q[at_place] == at_tag);
  assign after_here = (arriving_q && arriving_tag_q == after_tag) ||
      (full_q[after_place] && tag_q[after_place] == after_tag);
  assign behind_here = (arriving_q && arriving_tag_q == behind_tag) ||
      (full_q[behind_place] && tag_q[behind_place] == behind_tag);

  assign have = at_here;
  assign there = at_arrives_q ? cpu_read.data[WIDTH-1:0] : word_q[at_place];
  if (WIDTH == 64) begin : gen_pair
    assign word = big(at[2] ? there[63:32] : there[31:0]);
  end else begin : gen_single
    assign word = big(there[31:0]);
  end

  // A prefetched word does not replace the word in use.
  logic ahead, fits;
  assign ahead = at_here && after_here;
  assign want  = !at_here ? at_tag : !after_here ? after_tag : behind_tag;
  assign fits  = {1'b0, want, {LANE{1'b0}}} < sram_bytes;
  assign fetch = fits && !(ahead && (behind_here || want_place == at_place));
  assign addr  = {want, {LANE{1'b0}}};

  logic unused_ok;
  assign unused_ok = ^{at[31:23], at[1:0], after[31:23], after[LANE-1:0], behind[31:23], behind[LANE-1:0], cpu_read};

  always_ff @(posedge clk) begin
    if (rst) begin
      full_q <= '0;
      arriving_q <= 1'b0;
      at_arrives_q <= 1'b0;
    end else begin
      arriving_q   <= fetch && gnt;
      at_arrives_q <= fetch && gnt && (!at_here || (!after_here && moves));
      if (arriving_q) begin
        full_q[arriving_place] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk) begin
    if (fetch && gnt) arriving_tag_q <= want;
    if (arriving_q) begin
      tag_q[arriving_place]  <= arriving_tag_q;
      word_q[arriving_place] <= cpu_read.data[WIDTH-1:0];
    end
  end

  function automatic logic [31:0] big(input logic [31:0] x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction
endmodule
