/* Paths of EPOS's NIC that hold a point-cut, written by hand for one composition each, without the protocols' headers. */
#include "paths.h"
#include "hardware/block.h"

enum { TURNS = 2, NODES = 64, FRAMES = 8, MTU = 4096, SLOTS = 4, WAKE = 4 };
struct route { u32 high, low, skip, unused; };
struct frame { u32 words[8]; };
#if RELIABLE
struct buffer { u32 busy; struct buffer *next; struct frame *frame; u32 *end; u32 told; u32 *entry; u32 address; u32 number;
#if SWITCHING
    u32 bits;
#endif
};
#else
struct buffer { u32 busy; struct buffer *next; struct frame *frame; u32 *end; u32 told; u32 *entry; u32 address;
#if SWITCHING
    u32 bits;
#endif
};
#endif
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
    u32 message[NODES], freed[NODES], expected[NODES];
#if FLOWING || RELIABLE || MEETING || CUTTING
    u32 control, *waiting;
#endif
#if MEETING
    struct { u32 posted, granted, asked, pages[16]; } meetings[NODES];
#endif
#if CUTTING
    u32 cut[NODES], known[NODES];
#endif
#if FLOWING
    u32 credit[NODES];
#endif
#if RELIABLE
    u32 accepted[NODES], acknowledged[NODES], stored[NODES], *acks;
#endif
};

/* Words of the header before those of a protocol; bytes of it all. */
enum { STRAIGHT_AT = 3 + MANY, CREDIT_AT = STRAIGHT_AT + MEETING, NUMBER_AT = CREDIT_AT + FLOWING, BITS_AT = NUMBER_AT + RELIABLE, HEADER = 4 * (BITS_AT + SWITCHING) };
enum { ALL = MANY | MEETING << 1 | CUTTING << 2 | FLOWING << 3 | RELIABLE << 4 | SWITCHING << 5 };

void epos_sent(struct nic *nic) {
    u32 sent = nic->sent + 1;
    REGISTER_WRITE(ISR, 8);
#if MANY
    if (UNLIKELY(nic->slots[nic->sending >> 16 & 127]->words[3] != 0)) {
        OFF_PATH("one more node");
        nic->sent--;
    }
#endif
    nic->sent = sent;
    nic->sending = 0;
    SHARED32(&nic->count_sent) = sent;
    if (UNLIKELY(nic->first != nic->last)) {
        OFF_PATH("more to send");
        nic->first++;
    }
}

static inline __attribute__((always_inline)) u32 arrived(
    struct nic *nic, struct frame *frame, u32 told, u32 number, u32 source, u32 *address) {
    u32 key = number << 8, last = told >> 30 & 1, offset, message;
#if SWITCHING
    {
        u32 bits = frame->words[BITS_AT];
        if (UNLIKELY(bits & ~ALL)) {
            OFF_PATH("unknown");
        } else
            nic->current->bits = bits;
    }
#endif
#if RELIABLE
#if SWITCHING
    if (UNLIKELY(!(frame->words[BITS_AT] >> 4 & 1))) {
        OFF_PATH("off");
    } else
#endif
    {
        u32 count = frame->words[NUMBER_AT];
        if (UNLIKELY(nic->accepted[source] == count)) {
            OFF_PATH("again");
        } else {
            nic->accepted[source] = count;
            nic->current->number = count;
        }
    }
#endif
#if FLOWING
#if MANY
    if (UNLIKELY(frame->words[CREDIT_AT] == 0xFFFFFFFFu)) {
        OFF_PATH("none");
    } else
#endif
        SHARED32(&nic->credit[source]) = frame->words[CREDIT_AT];
#endif
#if MEETING
    if (UNLIKELY(frame->words[STRAIGHT_AT] != 0)) {
        OFF_PATH("to its page");
        nic->sent = 0;
    }
#endif
#if CUTTING
    offset = (number & 0x3FFF) << nic->cut[source];
#else
    offset = (number & 0x3FFF) << 12;
#endif
    if (UNLIKELY(nic->expected[source] != key)) {
        OFF_PATH("a gap");
        return 0;
    }
    if (UNLIKELY(offset > 65535)) {
        OFF_PATH("too many");
        return 0;
    }
    nic->expected[source] = (last ? key | 0x3FFF00 : key) + 256;
    message = nic->message[source];
    nic->message[source] = message + last;
    *address = nic->staging + ((source << 2 | (message & SLOTS - 1)) << 16) + offset;
    return message;
}

static inline __attribute__((always_inline)) void brought(
    struct nic *nic, struct buffer *buffer, struct frame *frame, u32 told, u32 address) {
    struct block *block = nic->tail, *next = block + 1;
    u32 size = told & 0xFFFF, *entry = nic->entry, *following = entry + 1;
    if (UNLIKELY(size - 1 >= MTU)) {
        OFF_PATH("empty");
        size = 4;
    }
    buffer->told = nic->lap | told;
    buffer->entry = entry;
    if (UNLIKELY(following == nic->entries_end)) {
        OFF_PATH("wrapped");
        nic->lap ^= 1u << 31;
        following = nic->entries;
    }
    nic->entry = following;
    if (UNLIKELY(next == nic->blocks_end)) {
        OFF_PATH("wrapped");
        next = nic->blocks;
    }
    nic->tail = next;
    block->len = size;
    block->lar = (u32)frame + HEADER;
    block->eal = address;
    SHARED32(&block->next) = (u32)next | WAKE;
    REGISTER_WRITE(PULSE, 1);
}

void epos_hold(struct nic *nic, struct frame *frame) {
    u32 told = frame->words[2], address;
    arrived(nic, frame, told, frame->words[1], told >> 24 & 63, &address);
    nic->current->address = address;
    SHARED32(&nic->held) = SHARED32(&nic->held) + 1;
}

void epos_rx(struct nic *nic, struct frame *frame) {
    u32 told = frame->words[2], source = told >> 24 & 63, address;
    u32 message = arrived(nic, frame, told, frame->words[1], source, &address);
    if (UNLIKELY(message - SHARED32(&nic->freed[source]) >= SLOTS)) {
        OFF_PATH("full");
        return;
    }
    brought(nic, nic->current, frame, told, address);
}

void epos_stored(struct nic *nic) {
    struct block *block = nic->done, *next = block + 1;
    struct buffer *buffer = nic->done_buffer;
    if (UNLIKELY(!(SHARED32(&block->next) & TERMINAL))) {
        OFF_PATH("later");
        return;
    }
    if (UNLIKELY(next == nic->blocks_end)) {
        OFF_PATH("wrapped");
        next = nic->blocks;
    }
    nic->done = next;
    nic->done_buffer = buffer->next;
    buffer->busy = 0;
    SHARED32(buffer->entry) = buffer->told;
#if RELIABLE
#if SWITCHING
    if (UNLIKELY(!(buffer->bits >> 4 & 1))) {
        OFF_PATH("off");
    } else
#endif
    {
        u32 *ack = nic->acks, source = buffer->told >> 24 & 63, number = buffer->number;
        nic->stored[source] = number;
        ack[0] = source;
        ack[1] = number;
        nic->acks = ack + 2;
    }
#endif
    if (UNLIKELY(!nic->armed)) {
        OFF_PATH("none is armed");
        nic->armed = buffer;
    }
}
