/* Sending side: doorbells, the Tx DMA Requests, the send engine. */
#ifndef EPOS_SENDING_H
#define EPOS_SENDING_H

/* Take a doorbell from the queue in memory. */
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

/* Count an invalid doorbell. */
void epos_empty(struct nic *nic) { SHARED32(&nic->empty) = SHARED32(&nic->empty) + 1; }

/* Take a doorbell of a frame with unfetched payload: start the chain of Tx DMA Requests, and queue the frame. */
INLINE struct out *queued(struct nic *nic, u32 bell) {
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
    AT_BELL(nic, bell);
    out->frame = OWNER(nic)->slots[slot];
    return out;
}

void epos_fetch(struct nic *nic, u32 bell) {
    queued(nic, bell)->fetched = 0;
    AT_FETCH(nic, bell);
    REGISTER_WRITE(PULSE, TX_PULSE);
}

/* Take a doorbell of a frame that waits for the send engine, or for an earlier frame. */
void epos_queue(struct nic *nic, u32 bell) { queued(nic, bell)->fetched = ~bell >> 23 & 1; }

/* Earlier frames are not fetched yet: their completion also checks this frame's block. */
void epos_behind(struct nic *nic, struct out *out) {
    if (UNLIKELY(nic->fetched == out)) {
        OFF_PATH("none are");
        nic->sending = 0;
    }
}

/* No earlier frame is being fetched: test whether the chain has already completed this frame's block. */
void epos_here(struct nic *nic, struct out *out) {
    if (UNLIKELY(nic->fetched != out)) {
        OFF_PATH("some are");
        return;
    }
    if (UNLIKELY(SHARED32(&nic->tx_done->next) & TERMINAL)) {
        OFF_PATH("it is");
        out->fetched = 1;
    }
}

/* Process the completed DMA of a frame. */
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

/* Take the oldest fetched frame from the queue. */
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

/* Start a frame on the send engine. */
void epos_tx(struct nic *nic, u32 bell) {
    u32 slot = bell >> 16 & 127, bytes = bell & 0xFFFF;
    struct frame *frame;
    struct route *route = &nic->routes[NODE(bell >> 24)];
    u32 *before;
    if (UNLIKELY(slot >= FRAMES) || UNLIKELY(bytes - 4 * HEADER_WORDS > MTU) || UNLIKELY(nic->sending)) {
        OFF_PATH("no frame, or not now");
        return;
    }
    frame = OWNER(nic)->slots[slot];
    AT_TX(nic, bell);
#if HAS_PROTECTION
    nic->rest = (u32 *)frame + (HEADER_WORDS + 1 & ~1u);
    nic->rest_end = (u32 *)(((u32)frame + bytes + 7) & ~7u);
    before = nic->head;
#else
    before = (u32 *)frame - 2;
#endif
    before[0] = route->high;
    before[1] = route->low;
    nic->sending = bell;
    REGISTER_WRITE(SMP, before);
    REGISTER_WRITE(SA, route->skip);
#if HAS_PROTECTION
    REGISTER_WRITE(SML, nic->head + 2 + (HEADER_WORDS + 1 & ~1u));
#else
    REGISTER_WRITE(SMLT, ((u32)frame + bytes + 7) & ~7u);
#endif
}

/* Process the end of a send. */
void epos_sent(struct nic *nic) {
    owned *owner = LEAVING(nic);
    u32 sent = owner->sent + 1;
    REGISTER_WRITE(ISR, SEND);
    AT_TX_DONE(nic, nic->sending);
    owner->sent = sent;
    nic->sending = 0;
    SHARED32(&owner->count_sent) = sent;
    if (UNLIKELY(nic->first != nic->last)) {
        OFF_PATH("the next one");
        epos_unqueue(nic);
    }
}

#endif
