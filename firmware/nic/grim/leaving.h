/* Messages that may leave: the steps of sending.py. */

/* A stream whose turn it is: its oldest message that waits. */
static APART void send_again(struct ni *ni) {
    u32 stream = ni->ready[ni->ready_head & ni->ready_mask], ahead, slot, next;
    struct outgoing *out = &ni->outgoing[stream];
    struct board *board = &ni->boards[stream >> ni->node_shift >> ni->channel_shift];
    if (!out->waiting || out->flags & 1 || out->in_flight >= ni->window) {
        resend_nothing(ni);
        return;
    }
    ahead = ni->cursor[stream] - board->head;
    slot = board->first + ((int)ahead < 0 ? 0 : ahead);
    if (slot >= board->slots) slot -= board->slots;
    while ((next = resend_find(ni, board, slot, stream)) != slot) slot = next;
    resend_message(ni, slot);
}

/* The search has met a channel whose back pointer is not where the NI stands. */
static INLINED FLAT void new_message(struct ni *ni, struct channel *channel) {
    u32 index = channel - ni->channels;
    if (LIKELY(ni->reports < MANY)) send_message(ni, channel, &ni->boards[index], index);
}

static struct channel *searched;

/* The channels are searched, from where the search stopped; where it goes on. It stops when a message waits for the link. */
static INLINED struct channel *search(struct ni *ni, struct channel *channel) {
    do {
        struct channel *next = poll_channel(ni, channel);
        if (UNLIKELY(!next)) {
            new_message(ni, channel);
            next = channel + 1;
            if (UNLIKELY(ni->prepared)) return searched = next == ni->behind_channels ? ni->channels : next;
        }
        channel = next;
    } while (channel != ni->behind_channels);
    return ni->channels;
}
