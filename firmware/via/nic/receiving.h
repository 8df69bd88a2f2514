/* Reception of packets. */

/* Find the VI of a packet, and check that it is connected to the source and that the packet is in order. */
u32 receive_packet(struct layer *layer, u32 first, u32 second, u32 size) {
    struct endpoint *endpoint = &layer->endpoints[second >> 22 & 0x7F];
    u32 expected = endpoint->expected;
    if (UNLIKELY((second >> 22 & 0x7F) >= layer->vis) || UNLIKELY(state_of(endpoint) != CONNECTED) || UNLIKELY(endpoint->from != first >> 16)) {
        OFF_PATH("not connected");
        return 0;
    }
    if (UNLIKELY(second >> 18 & 8)) {
        OFF_PATH("an answer");
        return 0;
    }
    endpoint->expected = expected + 1 & 0xFFFF;
    if (UNLIKELY((second & 0xFFFF) != expected)) {
        OFF_PATH("a packet is missing");
        return 0;
    }
    if (LIKELY(second >> 17 & 1)) {
        endpoint->coming = first & 0xFFFF;
        return size;
    }
    if (UNLIKELY(endpoint->coming != (first & 0xFFFF))) {
        OFF_PATH("of another message");
        return 0;
    }
    OFF_PATH("a further packet");
    return 0;
}

/* Count a rejected packet. */
void receive_refused(struct layer *layer, u32 counter) {
    u32 *at = &layer->shared->counters[counter];
    SHARED32(at) = *at + 1;
}

/* Read the next descriptor of a receive queue cache. */
u32 receive_begin(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 control, tail = SHARED32(&endpoint->words->receive_tail);
    ring->tail = tail;
    if (UNLIKELY(tail - ring->at < 3)) {
        OFF_PATH("there is none");
        return 0;
    }
    control = take(ring);
    if (UNLIKELY(control >> 20 & 1)) {
        OFF_PATH("refused");
        return 0;
    }
    endpoint->entries = control & 0xFFFF;
    endpoint->descriptor = take(ring);
    ring->at++;
    endpoint->left = 0;
    endpoint->length = 0;
    endpoint->receiving = 1;
    endpoint->immediate = 0;
    return 1;
}

/* Read the next entry of its page list. */
u32 receive_page(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 entries = endpoint->entries, at = ring->at;
    if (UNLIKELY(entries == 0) || UNLIKELY(ring->tail - at < 2)) {
        OFF_PATH("there is none");
        return 0;
    }
    if (UNLIKELY(2 * (at - ring->freed) > ring->mask)) {
        OFF_PATH("a list longer than the ring");
        ring->freed = at;
    }
    endpoint->address = take(ring);
    endpoint->left = take(ring);
    endpoint->entries = entries - 1;
    return 1;
}

/* Compute address and size of the next part of the payload. */
u32 receive_piece(struct endpoint *endpoint, u32 size) {
    u32 left = endpoint->left, address = endpoint->address;
    if (UNLIKELY(size > left)) {
        OFF_PATH("it goes on in the next page");
        size = left;
    }
    endpoint->left = left - size;
    endpoint->address = address + size;
    endpoint->length = endpoint->length + size;
    return address;
}

/* Complete a message: free the descriptor, check for low water and a due acknowledgement. */
u32 receive_end(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 at = ring->at + 2 * endpoint->entries;
    endpoint->receiving = 0;
    ring->at = at;
    ring->freed = at;
    SHARED32(&endpoint->words->receive_head) = at;
    if (UNLIKELY(SHARED32(&endpoint->words->queued) == 1)) {
        OFF_PATH("more waits at the host");
        return SHARED32(&endpoint->words->receive_tail) - at < LOW_WORDS;
    }
    if (UNLIKELY(endpoint->reliability != 1)) {
        OFF_PATH("reliable");
        return 2;
    }
    return 0;
}
