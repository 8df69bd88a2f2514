/* State of EPOS's firmware. Protocols add their own words, which exist only if the protocol is selected. */
#ifndef EPOS_STATE_H
#define EPOS_STATE_H
#include "turns.h"
#include "../../common/nic/block.h"
#include "header.h"
#include "words.h"

/* Compile-time sizes: the defaults of the repository. Other powers of two cost the same. */
enum { MTU_SHIFT = 12, MTU = 1 << MTU_SHIFT, SLOT_SHIFT = 16, SLOT = 1 << SLOT_SHIFT, PAGES = SLOT / MTU, SLOTS_SHIFT = 2, SLOTS = 1 << SLOTS_SHIFT, LIMIT = SLOTS, FRAMES = 8, NODES = 64 };
enum { RECV_HEAD = 3, SEND = 8, WAKE_RX = 0x10, RX_WAKE = 4, TX_PULSE = 4, RX_PULSE = 1 };

#include "owners.h"

struct route { u32 high, low, skip, unused; };
struct frame { u32 words[8]; }; /* header and payload */
struct buffer { u32 busy; struct buffer *next; struct frame *frame; u32 *end; u32 info; u32 *entry; u32 address; PROTOCOL_BUFFER };
struct out { u32 bell; struct frame *frame; u32 fetched, unused; };
struct nic {
    struct frame **slots;
    u32 sending, sent, staging, lap;
    struct route *routes;
    struct out *first, *last, *end, *ring, *fetched, out;
    struct buffer *armed, *current, *done_buffer;
    struct block *tail, *done, *blocks, *blocks_end, *tx_done;
    u32 *entry, *entries, *entries_end, *words;
    u32 count_sent, empty, bad, foreign, foreign_is, held, stray;
    u32 message[ROWS], freed[ROWS], expected[ROWS];
    DYNAMIC_WORDS
#if HAS_CONTROL
    u32 control, *waiting;
#endif
    PROTOCOL_WORDS
};

#endif
