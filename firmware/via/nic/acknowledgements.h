/* Acknowledgements of reliable connections, and the end of connections. */

/* Create an acknowledgement, which precedes all other waiting packets. */
void answer(struct layer *layer, struct endpoint *endpoint, u32 kind, u32 named) {
    u32 last = layer->answers_last, *one = layer->answers[last & 15], number = layer->number + 1 & 0xFFFF;
    layer->number = number;
    one[0] = endpoint->node;
    one[1] = endpoint->key | number;
    one[2] = endpoint->peer << 22 | kind << 18 | 3 << 16 | named;
    layer->answers_last = last + 1;
    if (UNLIKELY(last != layer->answers_first)) {
        OFF_PATH("others wait");
        return;
    }
    layer->answers_first = last + 1;
}

/* Record the store after which a message is acknowledged. */
void await_stored(struct layer *layer, struct endpoint *endpoint, u32 number) {
    u32 last = layer->awaiting_last, *one = layer->awaiting[last & 15];
    one[2] = number;
    one[0] = layer->stores;
    one[1] = (u32)endpoint;
    layer->awaiting_last = last + 1;
}

/* An acknowledgement has arrived: complete its message, usually the oldest. */
struct unanswered *answer_seen(struct endpoint *endpoint, u32 second) {
    u32 oldest = endpoint->oldest;
    struct unanswered *one = &endpoint->unanswered[oldest & 15];
    if (UNLIKELY((second >> 18 & 7) != 0) || UNLIKELY(oldest == endpoint->newest) || UNLIKELY(one->number != (second & 0xFFFF))) {
        OFF_PATH("the connection breaks, or an older read has no data yet");
        return 0;
    }
    endpoint->oldest = oldest + 1;
    return one;
}

/* Count a send of a reliable connection that is over, in a word for the kernel. */
u32 count_answered(struct endpoint *endpoint) {
    u32 answered = endpoint->answered + 1;
    endpoint->answered = answered;
    SHARED32(&endpoint->words->answered) = answered;
    return answered;
}

/* Check that a descriptor which gets its status later is still in registered memory. */
u32 look_home(struct unanswered *one, u32 *region) {
    if (UNLIKELY(SHARED32(region) != one->home)) {
        OFF_PATH("it does not");
        one->descriptor = 0;
    }
    return one->descriptor;
}

/* Break a connection. */
void break_up(struct endpoint *endpoint, u32 verdict) {
    endpoint->verdict = verdict;
    SHARED32(&endpoint->words->state) = endpoint->generation << 8 | 2;
    endpoint->receiving = 0;
    endpoint->receives.at = endpoint->receives.freed;
}

/* Read a descriptor in a receive queue cache that is flushed. */
u32 flush_descriptor(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 entries, descriptor, at = ring->at;
    if (UNLIKELY(SHARED32(&endpoint->words->receive_tail) - at < 3)) {
        OFF_PATH("there is none");
        return 0;
    }
    entries = take(ring) & 0xFFFF;
    descriptor = take(ring);
    at = at + 3 + 2 * entries;
    ring->at = at;
    ring->freed = at;
    SHARED32(&endpoint->words->receive_head) = at;
    return descriptor;
}

/* Mark that a refill is requested. */
void ask_refill(u32 *flag, u32 *asked) {
    SHARED32(flag) = 2;
    *asked = *asked + 1;
}

/* Read a word of the command ring. */
u32 command(struct layer *layer) {
    struct ring *ring = &layer->commands;
    struct endpoint *endpoint;
    u32 word, at = ring->at;
    if (UNLIKELY(SHARED32(&layer->shared->command_tail) == at)) {
        OFF_PATH("there is none");
        return 0;
    }
    word = take(ring);
    endpoint = &layer->endpoints[word & 0x7F];
    state_of(endpoint);
    SHARED32(&endpoint->words->state) = endpoint->generation << 8 | 2;
    SHARED32(&layer->shared->command_head) = at + 1;
    return word >> 16;
}
