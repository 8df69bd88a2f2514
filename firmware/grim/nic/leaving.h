/* Steps of sending.py: messages that may leave. */

/* Retransmit the oldest waiting message of the stream whose turn it is. */
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

/* Process a channel whose back pointer differs from the NI's next pointer. */
static INLINED FLAT void new_message(struct ni *ni, struct channel *channel) {
    u32 index = channel - ni->channels;
    if (LIKELY(ni->reports < MANY)) send_message(ni, channel, &ni->boards[index], index);
}

static struct channel *searched;

/* Take its message; return the channel at which the search continues. */
static INLINED struct channel *taken(struct ni *ni, struct channel *channel) {
    new_message(ni, channel);
    channel++;
    return searched = channel == ni->behind_channels ? ni->channels : channel;
}

/* Search the channels from where the search stopped up to the last one. Return true for a new message; `at` is its
 * channel, or the one at which the search continues. */
static INLINED u32 search(struct ni *ni, struct channel **at) {
    do {
        struct channel *next = poll_channel(ni, *at);
        if (UNLIKELY(!next)) return 1;
        *at = next;
    } while (*at != ni->behind_channels);
    *at = ni->channels;
    return 0;
}
