/* Paths of EPOS's NIC that contain a point-cut, written by hand for one composition each, without the protocols'
 * headers. */
#include "paths.h"
#include "common/nic/block.h"

#ifdef WITH_MULTICAST
#define MANY 1
#else
#define MANY 0
#endif
#ifdef WITH_RENDEZVOUS
#define MEETING 1
#else
#define MEETING 0
#endif
#ifdef WITH_MTU
#define CUTTING 1
#else
#define CUTTING 0
#endif
#ifdef WITH_FLOW
#define FLOWING 1
#else
#define FLOWING 0
#endif
#ifdef WITH_RELIABILITY
#define RELIABLE 1
#else
#define RELIABLE 0
#endif
#ifdef WITH_ACTIVE
#define SWITCHING 1
#else
#define SWITCHING 0
#endif
#ifdef WITH_PROTECTION
#define GUARDED 1
#else
#define GUARDED 0
#endif

enum { TURNS = 2, NODES = 64, FRAMES = 8, MTU = 4096, SLOTS = 4, WAKE = 4 };
struct route { u32 high, low, skip, unused; };
struct frame { u32 words[8]; };
#if RELIABLE
struct buffer { u32 busy; struct buffer *next; struct frame *frame; u32 *end; u32 told; u32 *entry; u32 address; u32 number;
#if SWITCHING
    u32 bits;
#endif
#if GUARDED
    u32 pair;
#endif
};
#else
struct buffer { u32 busy; struct buffer *next; struct frame *frame; u32 *end; u32 told; u32 *entry; u32 address;
#if SWITCHING
    u32 bits;
#endif
#if GUARDED
    u32 pair;
#endif
};
#endif
/* With protection each of two processes has its own copy of the state of one process, and of the words per node. */
#if GUARDED
enum { PAIRS = 128 };
#else
enum { PAIRS = 64 };
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
    u32 message[PAIRS], freed[PAIRS], expected[PAIRS];
#if FLOWING || RELIABLE || MEETING || CUTTING
    u32 control, *waiting;
#endif
#if MEETING
    struct { u32 posted, granted, asked, pages[16]; } meetings[PAIRS];
#endif
#if CUTTING
    u32 cut[PAIRS], known[PAIRS];
#endif
#if FLOWING
    u32 credit[PAIRS];
#endif
#if RELIABLE
    u32 accepted[PAIRS], acknowledged[PAIRS], stored[PAIRS], *acks;
#endif
#if GUARDED
    struct process {
        struct frame **slots;
        u32 *entry, *entries, *entries_end, lap, staging, count_sent;
        struct block *wish, *wishes, *wishes_end;
        u32 from, to, waits, holds, name, sent;
    } *now, *going, processes[2];
    struct block *chain, *chain_begin, *chain_end;
    u32 page, head[16], *rest, *rest_end;
#endif
};

/* Words of the header before those of a protocol; bytes of the whole header. */
enum { STRAIGHT_AT = 3 + MANY, CREDIT_AT = STRAIGHT_AT + MEETING, NUMBER_AT = CREDIT_AT + FLOWING, BITS_AT = NUMBER_AT + RELIABLE, PROCESS_AT = BITS_AT + SWITCHING, WORDS = PROCESS_AT + GUARDED, HEADER = 4 * WORDS };
enum { ALL = MANY | MEETING << 1 | CUTTING << 2 | FLOWING << 3 | RELIABLE << 4 | SWITCHING << 5 | GUARDED << 6 };

/* Take a doorbell of a frame, which waits from now on. */
static inline __attribute__((always_inline)) struct out *taken(struct nic *nic, u32 bell) {
    struct out *out = nic->last, *next = out + 1;
    u32 slot = bell >> 16 & 127;
    if (UNLIKELY(slot > 7) || UNLIKELY((bell & 0xFFFF) - HEADER > MTU)) {
        OFF_PATH("nothing behind");
        return 0;
    }
    if (UNLIKELY(next == nic->end)) {
        OFF_PATH("wrapped");
        next = nic->ring;
    }
    nic->last = next;
    out->bell = bell;
#if GUARDED
    {
        struct process *process = &nic->processes[nic->page & 1];
        u32 bit = 1u << (bell >> 16 & 31);
        if (UNLIKELY(nic->page > 1) || UNLIKELY(process->waits & bit)) {
            OFF_PATH("nobody, or twice");
        } else {
            process->waits |= bit;
            nic->now = process;
        }
    }
    out->frame = nic->now->slots[slot];
#else
    out->frame = nic->slots[slot];
#endif
    return out;
}

void epos_queue(struct nic *nic, u32 bell) { taken(nic, bell)->fetched = ~bell >> 23 & 1; }

void epos_fetch(struct nic *nic, u32 bell) {
    taken(nic, bell)->fetched = 0;
#if GUARDED
    {
        struct process *process = nic->now;
        struct block *wish = process->wish, *block = nic->chain, *next = block + 1;
        u32 size = (bell & 0xFFFF) - HEADER, address = SHARED32(&wish->eal);
        if (UNLIKELY(SHARED32(&wish->eah) != 0) || UNLIKELY(size == 0) || UNLIKELY(address < process->from)
            || UNLIKELY(address + size > process->to)) {
            OFF_PATH("not its own");
        } else {
            process->wish = wish + 1;
            if (UNLIKELY(wish + 1 == process->wishes_end)) {
                OFF_PATH("wrapped");
                process->wish = process->wishes;
            }
            if (UNLIKELY(next == nic->chain_end)) {
                OFF_PATH("wrapped");
                next = nic->chain_begin;
            }
            nic->chain = next;
            block->csum = 0;
            block->len = size;
            block->lar = (u32)process->slots[bell >> 16 & 127] + HEADER;
            block->eah = 0;
            block->eal = address;
            SHARED32(&block->next) = (u32)next | 5;
        }
    }
#endif
    REGISTER_WRITE(PULSE, 4);
}

#if GUARDED
/* Copy the process's description of its frame, so that it can no longer change it. */
static inline __attribute__((always_inline)) void looked(struct nic *nic, u32 bell) {
    struct process *process = nic->now;
    u32 *from = process->slots[bell >> 16 & 127]->words, *to = nic->head + 2, told = SHARED32(&from[2]), at;
    u32 key = SHARED32(&from[0]), number = SHARED32(&from[1]);
    u32 false = (key >> 16 ^ (process->name >> 1 | 0x600)) | (number >> 24 ^ ALL);
    false |= ((told >> 24 & ~64u) ^ process->name) | ((told ^ bell - HEADER) & 0xFFFF);
    if (UNLIKELY(false != 0)) {
        OFF_PATH("untrue");
    } else {
        to[0] = key;
        to[1] = number;
        to[2] = told;
#pragma unroll
        for (at = 3; at < (WORDS + 1 & ~1u); at++)
            if (at != PROCESS_AT)
                to[at] = from[at];
        to[PROCESS_AT] = bell >> 24 & 1;
        nic->going = process;
    }
}
#endif

void epos_tx(struct nic *nic, u32 bell) {
    u32 slot = bell >> 16 & 127, bytes = bell & 0xFFFF, *before;
#if GUARDED
    struct route *route = &nic->routes[(bell >> 24 & 63) >> 1];
#else
    struct route *route = &nic->routes[bell >> 24];
#endif
    struct frame *frame;
    if (UNLIKELY(slot > 7) || UNLIKELY(bytes - HEADER > MTU) || UNLIKELY(nic->sending != 0)) {
        OFF_PATH("nothing to send, or busy");
        return;
    }
#if GUARDED
    frame = nic->now->slots[slot];
    looked(nic, bell);
    nic->rest = (u32 *)frame + (WORDS + 1 & ~1u);
    nic->rest_end = (u32 *)(((u32)frame + bytes + 7) & ~7u);
    before = nic->head;
#else
    frame = nic->slots[slot];
    before = (u32 *)frame - 2;
#endif
    before[0] = route->high;
    before[1] = route->low;
    nic->sending = bell;
    REGISTER_WRITE(SMP, before);
    REGISTER_WRITE(SA, route->skip);
#if GUARDED
    REGISTER_WRITE(SML, nic->head + 2 + (WORDS + 1 & ~1u));
#else
    REGISTER_WRITE(SMLT, ((u32)frame + bytes + 7) & ~7u);
#endif
}

void epos_sent(struct nic *nic) {
#if GUARDED
    struct process *mine = nic->going;
#else
    struct nic *mine = nic;
#endif
    u32 sent = mine->sent + 1;
    REGISTER_WRITE(ISR, 8);
#if MANY && GUARDED
    if (UNLIKELY(nic->going->slots[nic->sending >> 16 & 127]->words[3] != 0)) {
        OFF_PATH("one more node");
        nic->going->sent--;
    }
#elif MANY
    if (UNLIKELY(nic->slots[nic->sending >> 16 & 127]->words[3] != 0)) {
        OFF_PATH("one more node");
        nic->sent--;
    }
#endif
#if GUARDED
    nic->going->waits &= ~(1u << (nic->sending >> 16 & 31));
#endif
    mine->sent = sent;
    nic->sending = 0;
    SHARED32(&mine->count_sent) = sent;
    if (UNLIKELY(nic->first != nic->last)) {
        OFF_PATH("more to send");
        nic->first++;
    }
}

static inline __attribute__((always_inline)) u32 arrived(
    struct nic *nic, struct frame *frame, u32 told, u32 number, u32 source, u32 *address) {
    u32 key = number << 8, last = told >> 30 & 1, offset, message;
#if GUARDED
    if (UNLIKELY(nic->processes[source >> 6].holds > 2)) {
        OFF_PATH("enough");
    } else
        nic->current->pair = source;
#endif
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
#if GUARDED
    *address = nic->processes[source >> 6].staging + (((source & 63) << 2 | (message & SLOTS - 1)) << 16) + offset;
#else
    *address = nic->staging + ((source << 2 | (message & SLOTS - 1)) << 16) + offset;
#endif
    return message;
}

static inline __attribute__((always_inline)) void brought(
    struct nic *nic, struct buffer *buffer, struct frame *frame, u32 told, u32 address) {
#if GUARDED
    struct process *mine = &nic->processes[buffer->pair >> 6];
#else
    struct nic *mine = nic;
#endif
    struct block *block = nic->tail, *next = block + 1;
    u32 size = told & 0xFFFF, *entry = mine->entry, *following = entry + 1;
    if (UNLIKELY(size - 1 >= MTU)) {
        OFF_PATH("empty");
        size = 4;
    }
    buffer->told = mine->lap | told;
    buffer->entry = entry;
    if (UNLIKELY(following == mine->entries_end)) {
        OFF_PATH("wrapped");
        mine->lap ^= 1u << 31;
        following = mine->entries;
    }
    mine->entry = following;
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
#if GUARDED
    arrived(nic, frame, told, frame->words[1], (frame->words[PROCESS_AT] & 1) << 6 | (told >> 24 & 63), &address);
#else
    arrived(nic, frame, told, frame->words[1], told >> 24 & 63, &address);
#endif
    nic->current->address = address;
    SHARED32(&nic->held) = SHARED32(&nic->held) + 1;
}

void epos_rx(struct nic *nic, struct frame *frame) {
#if GUARDED
    u32 told = frame->words[2], source = (frame->words[PROCESS_AT] & 1) << 6 | (told >> 24 & 63), address;
#else
    u32 told = frame->words[2], source = told >> 24 & 63, address;
#endif
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
#if GUARDED
        u32 *ack = nic->acks, source = buffer->pair, number = buffer->number;
#else
        u32 *ack = nic->acks, source = buffer->told >> 24 & 63, number = buffer->number;
#endif
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
