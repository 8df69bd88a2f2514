// Configuration port of the card: takes an image word by word, checks it, and has the fabric empty and load slots.
//
// Words come from writes behind CONFIG in the window and from the card's DMA, commands (Configure) from the register
// CONFIG, all in one order. A byte takes 1 + cfg_wait clocks, as at the 8-bit port of the FPGA. Errors in the header
// leave every slot as it is. With an intact header the slots of the image are emptied, between two messages. They are
// loaded when the CRC-32 of all frames is right; otherwise they stay empty. A partial image changes one slot; the other
// slots and the shell go on.
// Timing: a word waits while the buffer is full; words outside of an image are dropped, one a clock.
module myri_card_config
  import myri_card_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [7:0] cfg_wait,  // additional clocks of a byte
    input logic [31:0] identity,  // of the card's circuit file; constant
    input logic [7:0] files,  // number of its images; constant
    input logic c_valid,  // command
    output logic c_ready,  // accepted
    input logic [31:0] c_data,  // Configure
    input logic tw_valid,  // write beat of the target
    output logic tw_ready,  // accepted
    input logic [63:0] tw_data,  // byte lanes
    input logic [7:0] tw_be,  // words written, by their bytes
    input logic dma,  // the card's DMA has a transfer to the port; commands and the target wait for its end
    input logic dw_valid,  // write beat of the DMA
    output logic dw_ready,  // accepted
    input logic [63:0] dw_data,  // byte lanes
    input logic [7:0] dw_be,  // words written, by their bytes
    output logic room,  // there is room for CARD_CONFIG_PIECE bytes
    output logic tell_valid,  // change of slots
    input logic tell_ready,  // accepted
    output card_change_t tell,  // the change
    input logic told,  // strobe: it has been made
    output logic loading,  // see CardReg.CONFIG
    output card_load_t outcome,  // see CardReg.CONFIG
    output logic [31:0] bytes,  // see CardReg.CONFIG_BYTES
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int DEPTH_LOG2 = 6;
  localparam int ROOM = 2 ** DEPTH_LOG2 - CARD_CONFIG_PIECE / 4;
  localparam logic [31:0] POLYNOMIAL = 32'hEDB8_8320;
  function automatic logic [31:0] swap(input logic [31:0] word);
    swap = {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction
  function automatic logic [31:0] crc_of(input logic [31:0] crc, input logic [7:0] value);
    crc_of = crc ^ {24'd0, value};
    for (int i = 0; i < 8; i++) crc_of = crc_of[0] ? (crc_of >> 1) ^ POLYNOMIAL : crc_of >> 1;
  endfunction

  // ---- words and commands, in order ----
  logic upper_q, high, beat_valid, beat_ready, push, full_ready, valid, pop, is_command, fifo_busy;
  logic [63:0] beat;
  logic [7:0] be;
  logic [31:0] word;
  logic [DEPTH_LOG2:0] level;
  assign beat_valid = dma ? dw_valid : tw_valid;
  assign beat = dma ? dw_data : tw_data;
  assign be = dma ? dw_be : tw_be;
  assign high = upper_q || be[3:0] == 4'd0;
  assign push = (c_valid && !dma) || beat_valid;
  assign c_ready = full_ready && !dma;
  assign beat_ready = full_ready && beat_valid && (high || be[7:4] == 4'd0);
  assign tw_ready = beat_ready && !dma;
  assign dw_ready = beat_ready && dma;
  assign room = level <= (DEPTH_LOG2 + 1)'(ROOM);
  always_ff @(posedge clk) begin
    if (rst) upper_q <= 1'b0;
    else if (full_ready && beat_valid) upper_q <= !beat_ready;
  end
  myri_fifo #(
      .WIDTH(33),
      .DEPTH_LOG2(DEPTH_LOG2)
  ) u_words (
      .clk,
      .rst,
      .w_valid(push),
      .w_ready(full_ready),
      .w_data ({!beat_valid, beat_valid ? swap(high ? beat[63:32] : beat[31:0]) : c_data}),
      .r_valid(valid),
      .r_ready(pop),
      .r_data ({is_command, word}),
      .level,
      .busy   (fifo_busy)
  );

  // ---- bytes of a word ----
  typedef enum logic [2:0] {
    REST,  // no image
    HEADER,  // words of the header
    EMPTY,  // have the slots emptied
    FRAMES,  // words of the frames
    CHECK,  // CRC-32 of the frames
    FILL  // have the slots loaded
  } state_t;
  state_t state_q;
  logic takes, starts, ends, clears, byte_over, word_over, summed;
  logic [ 1:0] byte_q;
  logic [ 7:0] wait_q;
  logic [31:0] crc_q;
  logic [ 2:0] index_q;  // words of the header before this one
  assign takes = valid && state_q != EMPTY && state_q != FILL;
  assign starts = takes && is_command && word == 32'(CONFIGURE_START);
  assign ends = takes && is_command && word == 32'(CONFIGURE_END) && state_q != REST;
  assign clears = takes && is_command && word == 32'(CONFIGURE_CLEAR);
  assign byte_over = takes && !is_command && state_q != REST && wait_q == cfg_wait;
  assign word_over = byte_over && byte_q == '1;
  assign pop = takes && (is_command || state_q == REST || word_over);
  assign summed = state_q == FRAMES || (state_q == HEADER && index_q != CARD_IMAGE_HEADER_WORDS - 3'd1);
  always_ff @(posedge clk) begin
    if (rst) begin
      byte_q <= '0;
      wait_q <= '0;
    end else if (takes) begin
      if (pop) byte_q <= '0;
      else if (byte_over) byte_q <= byte_q + 2'd1;
      if (pop || byte_over) wait_q <= '0;
      else wait_q <= wait_q + 8'd1;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) crc_q <= '1;
    else if (starts || (word_over && !summed)) crc_q <= '1;
    else if (byte_over && summed) crc_q <= crc_of(crc_q, 8'(word >> {~byte_q, 3'd0}));
  end

  // ---- header ----
  logic mine_q;  // the identity is that of the card
  logic whole, configured_q;  // image of the device; the device is configured
  logic [7:0] version_q, part_q, slot_q, image_q;
  logic [31:0] length_q;  // bytes of the frames
  logic [29:0] left_q;  // words of the frames
  card_load_t verdict;  // with the last word of the header
  always_comb begin
    verdict = LOAD_RUNNING;
    if (slot_q != CARD_WHOLE_DEVICE && !configured_q) verdict = LOAD_NO_SHELL;
    if (image_q == '0 || image_q > files || (slot_q != CARD_WHOLE_DEVICE && slot_q >= 8'(CARD_SLOTS)))
      verdict = LOAD_NO_PLACE;
    if (length_q == '0 || length_q[1:0] != '0) verdict = LOAD_NO_PLACE;
    if (!mine_q) verdict = LOAD_OTHER_CIRCUITS;
    if (version_q != CARD_IMAGE_VERSION || part_q != CARD_IMAGE_PART) verdict = LOAD_OTHER_CARD;
    if (word != ~crc_q) verdict = LOAD_DAMAGED_HEADER;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      index_q <= '0;
      {version_q, part_q, slot_q, image_q} <= '0;
      mine_q <= 1'b0;
      length_q <= '0;
    end else if (starts) begin
      index_q <= '0;
    end else if (word_over && state_q == HEADER) begin
      index_q <= index_q + 3'd1;
      if (index_q == 3'd1) {version_q, part_q, slot_q, image_q} <= word;
      if (index_q == 3'd2) mine_q <= word == identity;
      if (index_q == 3'd3) length_q <= word;
    end
  end

  // ---- sequence of an image ----
  logic asked_q;  // the change of slots has been sent
  logic clears_q;  // the device is emptied by a command
  always_ff @(posedge clk) begin
    if (rst) begin
      state_q  <= REST;
      outcome  <= LOAD_NONE;
      clears_q <= 1'b0;
    end else if (starts) begin
      state_q  <= HEADER;
      outcome  <= LOAD_RUNNING;
      clears_q <= 1'b0;
    end else if (clears) begin
      state_q  <= EMPTY;
      outcome  <= LOAD_NONE;
      clears_q <= 1'b1;
    end else if (ends) begin
      state_q <= REST;
      outcome <= LOAD_TRUNCATED;
    end else begin
      case (state_q)
        HEADER:
        if (word_over && index_q == '0 && word != CARD_IMAGE_MAGIC) begin
          state_q <= REST;
          outcome <= LOAD_NO_IMAGE;
        end else if (word_over && index_q == CARD_IMAGE_HEADER_WORDS - 3'd1) begin
          state_q <= verdict == LOAD_RUNNING ? EMPTY : REST;
          outcome <= verdict;
        end
        EMPTY:   if (told) state_q <= clears_q ? REST : FRAMES;
        FRAMES:  if (word_over && left_q == 30'd1) state_q <= CHECK;
        CHECK:
        if (word_over) begin
          state_q <= word == ~crc_q ? FILL : REST;
          if (word != ~crc_q) outcome <= LOAD_DAMAGED;
        end
        FILL:
        if (told) begin
          state_q <= REST;
          outcome <= LOAD_DONE;
        end
        default: ;
      endcase
    end
  end
  always_ff @(posedge clk) begin
    if (rst) left_q <= '0;
    else if (state_q == EMPTY) left_q <= length_q[31:2];
    else if (word_over && state_q == FRAMES) left_q <= left_q - 30'd1;
  end
  always_ff @(posedge clk) begin
    if (rst) bytes <= '0;
    else if (starts) bytes <= '0;
    else if (word_over) bytes <= bytes + 32'd4;
  end

  // ---- changes of slots ----
  assign whole = clears_q || slot_q == CARD_WHOLE_DEVICE;
  assign tell_valid = (state_q == EMPTY || state_q == FILL) && !asked_q;
  assign tell.device = whole;
  assign tell.slots = whole ? '1 : CARD_SLOTS'(1) << slot_q[1:0];
  assign tell.image = state_q == FILL ? image_q : 8'd0;
  always_ff @(posedge clk) begin
    if (rst) asked_q <= 1'b0;
    else if (told) asked_q <= 1'b0;
    else if (tell_valid && tell_ready) asked_q <= 1'b1;
  end
  always_ff @(posedge clk) begin
    if (rst) configured_q <= 1'b0;
    else if (told && whole && asked_q) configured_q <= state_q == FILL;
  end

  assign loading = valid || state_q != REST;
  assign busy = fifo_busy || takes || tell_valid || told || push;
endmodule
