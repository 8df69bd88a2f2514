/* State of EPOS's library. Protocols add their own words, which exist only if the protocol is selected. */
#ifndef EPOS_STATE_H
#define EPOS_STATE_H
#include "turns.h"
#include "../nic/header.h"
#include "words.h"

/* Compile-time sizes: the defaults of the repository. Other powers of two cost the same. */
enum { FRAMES = 8, SLOT_SHIFT = 16, SLOT = 1 << SLOT_SHIFT, SLOTS_SHIFT = 2, SLOTS = 1 << SLOTS_SHIFT, NODES = 64, LONG = 4096 };

struct came { u32 source, communicator, size, at; };
struct epos {
    u32 nodes, key, next, rung, sent, block, blocks, blocks_end, entry, entries, entries_end, staging, given_up;
    u32 slots[FRAMES], message[NODES], came[NODES], taken[NODES], returned[NODES];
    DYNAMIC_WORDS
    PROTOCOL_WORDS
};

#endif
