/* Receiving side: the Receive Ring, the Rx DMA Requests, the Rx FIFO Queue, and control frames between NICs. */
#ifndef EPOS_RECEIVING_H
#define EPOS_RECEIVING_H

/* Take a packet: its end, the buffer for the next packet, its syndrome, its composition. */
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

/* Offset of a frame in its message. */
INLINE u32 offset_of(struct nic *nic, u32 source, u32 number) {
#if IN_BUILD(HAS_MTU)
    ACTIVE(nic, BIT_MTU) {
        DORMANT();
        return mtu_offset(nic, source, number);
    }
#endif
    return (number & INDEX) << MTU_SHIFT;
}

/* Check a frame's number; find its message and its place in host memory. */
INLINE u32 judged(
    struct nic *nic, struct frame *frame, u32 info, u32 number, u32 source, u32 *address) {
    u32 follows = number << 8, last = info >> 30 & 1, offset, message;
    AT_RX(nic, source, frame);
    offset = offset_of(nic, source, number);
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
    *address = OWNER_OF(nic, source)->staging + ((PEER(source) << SLOTS_SHIFT | (message & SLOTS - 1)) << SLOT_SHIFT) + offset;
    return message;
}

/* Compute the entry for the host, and start the DMA. The high word of an address and the order of the blocks never
 * change. */
INLINE void placed(
    struct nic *nic, struct buffer *buffer, struct frame *frame, u32 info, u32 address) {
    owned *owner = OWNER_OF(nic, BUFFER_ROW(buffer));
    struct block *block = nic->tail, *next = block + 1;
    u32 size = info & 0xFFFF, *entry = owner->entry, *following = entry + 1;
    if (UNLIKELY(size - 1 >= MTU)) {
        OFF_PATH("no payload: a word that nobody reads keeps the order; or more than a frame has");
        size = 4;
    }
    buffer->info = owner->lap | info;
    buffer->entry = entry;
    if (UNLIKELY(following == owner->entries_end)) {
        OFF_PATH("round the queue: the next lap");
        owner->lap ^= 1u << 31;
        following = owner->entries;
    }
    owner->entry = following;
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

/* Deliver a frame whose slot is free. */
void epos_rx(struct nic *nic, struct frame *frame) {
    u32 info = frame->words[EPOS_INFO], source = ROW(frame, info >> 24 & 63), address;
    u32 message = judged(nic, frame, info, frame->words[EPOS_NUMBER], source, &address);
    if (UNLIKELY(message - SHARED32(&nic->freed[source]) >= LIMIT)) {
        OFF_PATH("its staging slot is in use");
        return;
    }
    placed(nic, nic->current, frame, info, address);
}

/* Hold a frame in the Receive Ring. */
void epos_hold(struct nic *nic, struct frame *frame) {
    u32 info = frame->words[EPOS_INFO], address;
    judged(nic, frame, info, frame->words[EPOS_NUMBER], ROW(frame, info >> 24 & 63), &address);
    nic->current->address = address;
    SHARED32(&nic->held) = SHARED32(&nic->held) + 1;
}

/* Release a held frame whose slot is free. */
void epos_freed(struct nic *nic, struct buffer *buffer) {
    struct frame *frame = buffer->frame;
    placed(nic, buffer, frame, frame->words[EPOS_INFO], buffer->address);
}

/* Count and drop a frame that follows a lost one. */
void epos_stray(struct nic *nic) {
    SHARED32(&nic->stray) = SHARED32(&nic->stray) + 1;
    nic->current->busy = 0;
}

/* Take the first frame of a message with a skipped number: the incomplete message before it is discarded. */
u32 epos_anew(struct nic *nic, u32 source, u32 follows) {
    owned *owner = OWNER_OF(nic, source);
    u32 message = nic->message[source], *entry = owner->entry;
    if (LIKELY(nic->expected[source] & INDEX << 8)) {
        owner->entry = entry + 1;
        SHARED32(entry) = owner->lap | 1u << 30 | PEER(source) << 24 | INCOMPLETE;
        nic->message[source] = message = message + 1;
    }
    nic->expected[source] = follows;
    return message;
}

#if HAS_CONTROL
/* Build a control frame, and start it on the send engine. */
void epos_control(struct nic *nic, u32 *frame, u32 node, u32 kind, u32 value) {
    struct route *route = &nic->routes[NODE(node)];
    frame[0] = route->high;
    frame[1] = route->low;
    frame[2] = nic->control = nic->control + 1 & 0xFFFF;
    frame[3] = COMPOSITION << 24 | CONTROL_PAIR(node) | kind;
    frame[4] = value;
    nic->sending = ~0u;
    REGISTER_WRITE(SMP, frame);
    REGISTER_WRITE(SA, route->skip);
    REGISTER_WRITE(SMLT, (u32)(frame + 6) & ~7u);
}

/* Queue a control frame while the send engine is busy. */
void epos_control_wait(struct nic *nic, u32 node, u32 kind, u32 value) {
    u32 *wait = nic->waiting;
    wait[0] = node << 8 | kind;
    wait[1] = value;
    nic->waiting = wait + 2;
}

/* Store the word of a received control frame for the host. */
void epos_control_in(struct nic *nic, struct frame *frame) {
#if HAS_FLOW || HAS_RELIABILITY
    u32 source = CONTROL_ROW(frame->words[EPOS_KEY], frame->words[EPOS_NUMBER]);
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
    SHARED32(&at[source]) = frame->words[EPOS_INFO];
#endif
    nic->current->busy = 0;
}
#endif

/* Count and drop a damaged packet. */
void epos_bad(struct nic *nic) {
    SHARED32(&nic->bad) = SHARED32(&nic->bad) + 1;
    nic->current->busy = 0;
}

/* Count and drop a frame of another composition, and record that composition. */
void epos_foreign(struct nic *nic, struct frame *frame) {
    SHARED32(&nic->foreign) = SHARED32(&nic->foreign) + 1;
    SHARED32(&nic->foreign_is) = frame->words[EPOS_NUMBER] >> 24;
    nic->current->busy = 0;
}

/* Pass another host's greeting on as an entry of the Rx FIFO Queue. */
void epos_greeting(struct nic *nic, struct frame *frame) {
    owned *owner = OWNER_OF(nic, 0);
    u32 *entry = owner->entry, *following = entry + 1, source = frame->words[EPOS_KEY] >> 16 & 63;
    if (UNLIKELY(following == owner->entries_end)) {
        OFF_PATH("round the queue: the next lap");
        owner->lap ^= 1u << 31;
        following = owner->entries;
    }
    owner->entry = following;
    SHARED32(entry) = owner->lap | source << 24 | frame->words[EPOS_NUMBER] >> 24 << 16 | GREETING;
    nic->current->busy = 0;
}

/* Mark the message in a staging slot; only with staging=overwrite. */
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

/* Write the entry of the Rx FIFO Queue by a DMA block; only if the queue is in host memory. */
void epos_mirror(struct nic *nic, u32 *words, u32 info, u32 address) {
    struct block *block = nic->tail, *next = block + 1;
    nic->tail = next;
    words[0] = info;
    block->len = 4;
    block->lar = (u32)words;
    block->eah = 0;
    block->eal = address;
    SHARED32(&block->next) = (u32)next | RX_WAKE;
}

/* Process a completed block that needs no action. */
u32 epos_passed(struct nic *nic) {
    struct block *block = nic->done;
    nic->done = block + 1;
    return SHARED32(&block->next) & TERMINAL;
}

/* Process the completed DMA of a frame: free its buffer, notify the host. */
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
    SHARED32(buffer->entry) = buffer->info;
    AT_STORED(nic, buffer);
    if (UNLIKELY(!nic->armed)) {
        OFF_PATH("the only free buffer");
        nic->armed = buffer;
    }
}

#endif
