/* What each step of EPOS costs the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * A path calls the protocols at its point-cut by AT_...; of those that are not selected nothing is left (hooks.h). */
#include "state.h"
#include "hooks.h"

/* One look at the word that tells that the driver is there. */
u32 epos_look_ready(const u32 *staging) { return look_turn(SHARED32(staging), 0); }

/* One look at the bits of ISR: the engines, and the doorbell FIFO. */
u32 epos_look(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("something has happened");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the next word of the Tx FIFO Queue, where it is in memory. */
u32 epos_look_bell(const u32 *bell) { return look_turn(SHARED32(bell), 0); }

/* One look at what a frame waits for in the Receive Ring. */
u32 epos_look_freed(const u32 *freed, u32 before) { return look_turn(SHARED32(freed), before); }

/* Which bit is it? Not this one. */
u32 epos_which(u32 flags, u32 mask) {
    if (UNLIKELY(flags & mask)) {
        OFF_PATH("this one");
        return 1;
    }
    return flags;
}

/* ---- out */

/* Take a doorbell out of the queue in memory. */
u32 epos_bell_word(u32 **next, u32 *end, u32 *begin) {
    u32 *at = *next, *following = at + 1, bell = SHARED32(at);
    SHARED32(at) = 0;
    if (UNLIKELY(following == end)) {
        OFF_PATH("round the queue");
        following = begin;
    }
    *next = following;
    return bell;
}

/* A doorbell with no frame behind it: count it. */
void epos_empty(struct nic *nic) { SHARED32(&nic->empty) = SHARED32(&nic->empty) + 1; }

/* A doorbell of a frame that is not here: start the chain of Tx DMA Requests, and queue the frame. */
static inline __attribute__((always_inline)) struct out *queued(struct nic *nic, u32 bell) {
    struct out *out = nic->last, *next = out + 1;
    u32 slot = bell >> 16 & 127;
    if (UNLIKELY(slot >= FRAMES) || UNLIKELY((bell & 0xFFFF) - 4 * HEADER_WORDS > MTU)) {
        OFF_PATH("no frame");
        return 0;
    }
    if (UNLIKELY(next == nic->end)) {
        OFF_PATH("round the queue");
        next = nic->ring;
    }
    nic->last = next;
    out->bell = bell;
    out->frame = nic->slots[slot];
    return out;
}

void epos_fetch(struct nic *nic, u32 bell) {
    queued(nic, bell)->fetched = 0;
    REGISTER_WRITE(PULSE, TX_PULSE);
}

/* A doorbell of a frame that waits for the send engine, or for one before it. */
void epos_queue(struct nic *nic, u32 bell) { queued(nic, bell)->fetched = ~bell >> 23 & 1; }

/* The DMA of a frame has ended. */
void epos_fetched(struct nic *nic) {
    struct block *block = nic->tx_done;
    REGISTER_WRITE(ISR, 1u << 5);
    if (UNLIKELY(!(SHARED32(&block->next) & TERMINAL))) {
        OFF_PATH("not yet");
        return;
    }
    nic->tx_done = (struct block *)(block->next & ~7u);
    nic->fetched->fetched = 1;
    nic->fetched = nic->fetched + 1;
}

/* The oldest frame of the queue, which is here. */
u32 epos_unqueue(struct nic *nic) {
    struct out *out = nic->first, *next = out + 1;
    if (UNLIKELY(!out->fetched)) {
        OFF_PATH("not here");
        return 0;
    }
    if (UNLIKELY(next == nic->end)) {
        OFF_PATH("round the queue");
        next = nic->ring;
    }
    nic->first = next;
    return out->bell;
}

/* A frame to the send engine. */
void epos_tx(struct nic *nic, u32 bell) {
    u32 slot = bell >> 16 & 127, bytes = bell & 0xFFFF;
    struct frame *frame;
    struct route *route = &nic->routes[bell >> 24];
    u32 *before;
    if (UNLIKELY(slot >= FRAMES) || UNLIKELY(bytes - 4 * HEADER_WORDS > MTU) || UNLIKELY(nic->sending)) {
        OFF_PATH("no frame, or not now");
        return;
    }
    frame = nic->slots[slot];
    before = (u32 *)frame - 2;
    before[0] = route->high;
    before[1] = route->low;
    nic->sending = bell;
    REGISTER_WRITE(SMP, before);
    REGISTER_WRITE(SA, route->skip);
    REGISTER_WRITE(SMLT, ((u32)frame + bytes + 7) & ~7u);
}

/* The send engine has read it. */
void epos_sent(struct nic *nic) {
    u32 sent = nic->sent + 1;
    REGISTER_WRITE(ISR, SEND);
    AT_TX_DONE(nic, nic->sending);
    nic->sent = sent;
    nic->sending = 0;
    SHARED32(&nic->count_sent) = sent;
    if (UNLIKELY(nic->first != nic->last)) {
        OFF_PATH("the next one");
        epos_unqueue(nic);
    }
}

/* ---- in */

/* A packet has come: where it ends, the next buffer for the next one, its syndrome, its composition. */
struct frame *epos_head(struct nic *nic) {
    struct buffer *buffer = nic->armed, *next = buffer->next;
    struct frame *frame = buffer->frame;
    u32 *end;
    REGISTER_WRITE(ISR, RECV_HEAD);
    end = (u32 *)REGISTER_READ(RMP);
    if (UNLIKELY(next->busy)) {
        OFF_PATH("no buffer is free");
        next = 0;
    }
    nic->armed = next;
    REGISTER_WRITE(RMP, next->frame);
    REGISTER_WRITE(RML, next->end);
    nic->current = buffer;
    buffer->busy = 1;
    if (UNLIKELY(SHARED32(end - 2) >> 24) || UNLIKELY(frame->words[EPOS_NUMBER] >> 24 != COMPOSITION)) {
        OFF_PATH("damaged, or foreign");
        return 0;
    }
#if HAS_CONTROL
    if (UNLIKELY(frame->words[EPOS_KEY] >> 24 != 6)) {
        OFF_PATH("a control frame");
        return 0;
    }
#endif
    return frame;
}

/* A frame: whether it follows the one before, of which message it is, and where it goes in host memory. */
static inline __attribute__((always_inline)) u32 judged(
    struct nic *nic, struct frame *frame, u32 told, u32 number, u32 source, u32 *address) {
    u32 follows = number << 8, last = told >> 30 & 1, offset, message;
    AT_RX(nic, source, frame);
    offset = mtu_offset(nic, source, number);
    if (UNLIKELY(follows != nic->expected[source])) {
        OFF_PATH("frames between are lost, or it is the first of a message");
        return 0;
    }
    if (UNLIKELY(offset >= SLOT)) {
        OFF_PATH("more than a staging slot has");
        return 0;
    }
    nic->expected[source] = (follows | (-last & INDEX << 8)) + (1 << 8);
    message = nic->message[source];
    nic->message[source] = message + last;
    *address = nic->staging + ((source << SLOTS_SHIFT | (message & SLOTS - 1)) << SLOT_SHIFT) + offset;
    return message;
}

/* What the host will be told; its DMA starts. The high word of an address and the order of the blocks never change. */
static inline __attribute__((always_inline)) void placed(
    struct nic *nic, struct buffer *buffer, struct frame *frame, u32 told, u32 address) {
    struct block *block = nic->tail, *next = block + 1;
    u32 size = told & 0xFFFF, *entry = nic->entry, *following = entry + 1;
    if (UNLIKELY(size - 1 >= MTU)) {
        OFF_PATH("no payload: a word that nobody reads keeps the order; or more than a frame has");
        size = 4;
    }
    buffer->told = nic->lap | told;
    buffer->entry = entry;
    if (UNLIKELY(following == nic->entries_end)) {
        OFF_PATH("round the queue: the next lap");
        nic->lap ^= 1u << 31;
        following = nic->entries;
    }
    nic->entry = following;
    if (UNLIKELY(next == nic->blocks_end)) {
        OFF_PATH("round the ring");
        next = nic->blocks;
    }
    nic->tail = next;
    block->len = size;
    block->lar = (u32)frame + 4 * HEADER_WORDS;
    block->eal = address;
    SHARED32(&block->next) = (u32)next | RX_WAKE;
    REGISTER_WRITE(PULSE, RX_PULSE);
}

/* A frame whose slot is free. */
void epos_rx(struct nic *nic, struct frame *frame) {
    u32 told = frame->words[EPOS_TOLD], source = told >> 24 & 63, address;
    u32 message = judged(nic, frame, told, frame->words[EPOS_NUMBER], source, &address);
    if (UNLIKELY(message - SHARED32(&nic->freed[source]) >= LIMIT)) {
        OFF_PATH("its staging slot is in use");
        return;
    }
    placed(nic, nic->current, frame, told, address);
}

/* A frame that has to wait in the Receive Ring. */
void epos_hold(struct nic *nic, struct frame *frame) {
    u32 told = frame->words[EPOS_TOLD], address;
    judged(nic, frame, told, frame->words[EPOS_NUMBER], told >> 24 & 63, &address);
    nic->current->address = address;
    SHARED32(&nic->held) = SHARED32(&nic->held) + 1;
}

/* The slot that it waits for is free. */
void epos_freed(struct nic *nic, struct buffer *buffer) {
    struct frame *frame = buffer->frame;
    placed(nic, buffer, frame, frame->words[EPOS_TOLD], buffer->address);
}

/* Frames before it are lost: count it; its buffer is free. */
void epos_stray(struct nic *nic) {
    SHARED32(&nic->stray) = SHARED32(&nic->stray) + 1;
    nic->current->busy = 0;
}

/* The first frame of a message that does not have the next number: what has come of the one before is given up. */
u32 epos_anew(struct nic *nic, u32 source, u32 follows) {
    u32 message = nic->message[source], *entry = nic->entry;
    if (LIKELY(nic->expected[source] & INDEX << 8)) {
        nic->entry = entry + 1;
        SHARED32(entry) = nic->lap | 1u << 30 | source << 24 | INCOMPLETE;
        nic->message[source] = message = message + 1;
    }
    nic->expected[source] = follows;
    return message;
}

#if HAS_CONTROL
/* What this NIC tells another one: a control frame, made and handed to the send engine. */
void epos_control(struct nic *nic, u32 *frame, u32 node, u32 kind, u32 value) {
    struct route *route = &nic->routes[node];
    frame[0] = route->high;
    frame[1] = route->low;
    frame[2] = nic->control = nic->control + 1 & 0xFFFF;
    frame[3] = COMPOSITION << 24 | kind;
    frame[4] = value;
    nic->sending = ~0u;
    REGISTER_WRITE(SMP, frame);
    REGISTER_WRITE(SA, route->skip);
    REGISTER_WRITE(SMLT, (u32)(frame + 6) & ~7u);
}

/* It has to wait for the send engine. */
void epos_control_wait(struct nic *nic, u32 node, u32 kind, u32 value) {
    u32 *wait = nic->waiting;
    wait[0] = node << 8 | kind;
    wait[1] = value;
    nic->waiting = wait + 2;
}

/* A control frame of another NIC: its word goes to where the host looks. */
void epos_control_in(struct nic *nic, struct frame *frame) {
#if HAS_FLOW || HAS_RELIABILITY
    u32 source = frame->words[EPOS_KEY] >> 16 & 63;
#if HAS_RELIABILITY
    u32 *at = nic->acknowledged;
#endif
#if HAS_RENDEZVOUS || HAS_MTU
    if (UNLIKELY((frame->words[EPOS_NUMBER] & 0xFF) > 2)) {
        OFF_PATH("of rendezvous, or of MTU adaptation");
        return;
    }
#endif
#if HAS_FLOW && HAS_RELIABILITY
    if (UNLIKELY(frame->words[EPOS_NUMBER] & 1)) {
        OFF_PATH("a credit");
        at = nic->credit;
    }
#elif HAS_FLOW
    u32 *at = nic->credit;
#endif
    SHARED32(&at[source]) = frame->words[EPOS_TOLD];
#endif
    nic->current->busy = 0;
}
#endif

#if HAS_RENDEZVOUS
/* A frame of a message that was granted: its page of the posted buffer. */
u32 epos_direct(struct nic *nic, u32 source, u32 offset) {
    u32 page = nic->rendezvous[source].pages[offset >> MTU_SHIFT];
    if (UNLIKELY(!page)) {
        OFF_PATH("beyond the posted buffer: it is dropped");
        return 0;
    }
    return page + (offset & MTU - 1);
}

/* The host asks a node for a buffer. */
u32 epos_ask(u32 bell, u32 *number) {
    *number = bell & 0xFFFF;
    return bell >> 24;
}

/* A node asks for one: is it posted? */
u32 epos_asked(struct nic *nic, u32 source, u32 number) {
    nic->rendezvous[source].asked = number;
    return SHARED32(&nic->rendezvous[source].posted) >> 21 == number;
}

/* The host has posted one: is it asked for? */
u32 epos_posted(struct nic *nic, u32 bell) {
    return nic->rendezvous[bell >> 24].asked == SHARED32(&nic->rendezvous[bell >> 24].posted) >> 21;
}

/* It is granted: what the host has posted goes to the node. */
u32 epos_grant(struct nic *nic, u32 node) { return SHARED32(&nic->rendezvous[node].posted); }

/* A node has granted one: the word goes to where the host looks. */
void epos_granted_in(struct nic *nic, u32 source, u32 word) { SHARED32(&nic->rendezvous[source].granted) = word; }
#endif

#if HAS_ACTIVE
/* A frame asks for what is not composed in: count it; its buffer is free. */
void epos_refuse(struct nic *nic, u32 *refused) {
    SHARED32(refused) = SHARED32(refused) + 1;
    nic->current->busy = 0;
}
#endif

#if HAS_MTU
/* The host cuts its frames otherwise: a node must know. */
u32 epos_tell_mtu(u32 bell, u32 *shift) {
    *shift = bell & 0xFFFF;
    return bell >> 24;
}

/* A node cuts its frames so from now on, and is answered. */
u32 epos_seen_mtu(struct nic *nic, u32 source, u32 shift) {
    nic->cut[source] = shift;
    return shift;
}

/* A node knows how this host cuts: the word goes to where the host looks. */
void epos_known_mtu(struct nic *nic, u32 source, u32 shift) { SHARED32(&nic->known[source]) = shift; }
#endif

#if HAS_FLOW
/* The host has a credit for a node that goes alone. */
u32 epos_credit(u32 bell, u32 *count) {
    *count = bell & 0xFFFF;
    return bell >> 24;
}
#endif

#if HAS_FLOW && HAS_RELIABILITY
/* Another node asks how many of its messages were copied out. */
u32 epos_answer(struct nic *nic, struct frame *frame) { return SHARED32(&nic->freed[frame->words[EPOS_KEY] >> 16 & 63]); }
#endif

#if HAS_RELIABILITY
/* A frame that has come before: its buffer is free, and it is acknowledged again, if that has been done. */
u32 epos_duplicate(struct nic *nic, u32 *duplicates, u32 source, u32 number) {
    SHARED32(duplicates) = SHARED32(duplicates) + 1;
    nic->current->busy = 0;
    if (UNLIKELY(nic->stored[source] != number)) {
        OFF_PATH("it is on its way to the host");
        return 0;
    }
    return number;
}
#endif

#if HAS_MULTICAST
/* One step of the search for the next node of a multicast. */
u32 epos_next_node(u32 left, u32 node) {
    if (UNLIKELY(left >> node & 1)) {
        OFF_PATH("this one");
        return 0;
    }
    LOOP_AGAIN();
    return node + 1;
}

/* It is sent to that one too. */
void epos_repeat(struct nic *nic, struct frame *frame, u32 left) { frame->words[EPOS_MULTICAST] = left & left - 1; }
#endif

/* It is damaged: count it; its buffer is free. */
void epos_bad(struct nic *nic) {
    SHARED32(&nic->bad) = SHARED32(&nic->bad) + 1;
    nic->current->busy = 0;
}

/* It is of another composition: count it, and say of which. */
void epos_foreign(struct nic *nic, struct frame *frame) {
    SHARED32(&nic->foreign) = SHARED32(&nic->foreign) + 1;
    SHARED32(&nic->foreign_is) = frame->words[EPOS_NUMBER] >> 24;
    nic->current->busy = 0;
}

/* Which message stands in a staging slot from now on; only where slots are overwritten. */
void epos_mark(struct nic *nic, u32 *words, u32 message, u32 address) {
    struct block *block = nic->tail, *next = block + 1;
    nic->tail = next;
    words[0] = message;
    block->len = 4;
    block->lar = (u32)words;
    block->eah = 0;
    block->eal = address;
    SHARED32(&block->next) = (u32)next;
}

/* The entry of the Rx FIFO Queue as a block of its own; only where that is in host memory. */
void epos_mirror(struct nic *nic, u32 *words, u32 told, u32 address) {
    struct block *block = nic->tail, *next = block + 1;
    nic->tail = next;
    words[0] = told;
    block->len = 4;
    block->lar = (u32)words;
    block->eah = 0;
    block->eal = address;
    SHARED32(&block->next) = (u32)next | RX_WAKE;
}

/* A block that asks for nothing has ended. */
u32 epos_passed(struct nic *nic) {
    struct block *block = nic->done;
    nic->done = block + 1;
    return SHARED32(&block->next) & TERMINAL;
}

/* The DMA of a frame has ended: its buffer is free, the host is told. */
void epos_stored(struct nic *nic) {
    struct block *block = nic->done, *next = block + 1;
    struct buffer *buffer = nic->done_buffer;
    if (UNLIKELY(!(SHARED32(&block->next) & TERMINAL))) {
        OFF_PATH("not yet");
        return;
    }
    if (UNLIKELY(next == nic->blocks_end)) {
        OFF_PATH("round the ring");
        next = nic->blocks;
    }
    nic->done = next;
    nic->done_buffer = buffer->next;
    buffer->busy = 0;
    SHARED32(buffer->entry) = buffer->told;
    AT_STORED(nic, buffer);
    if (UNLIKELY(!nic->armed)) {
        OFF_PATH("the only free buffer");
        nic->armed = buffer;
    }
}
