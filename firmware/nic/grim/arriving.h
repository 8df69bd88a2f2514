/* A packet is complete: the step for it, in the order of receiving.py. */

/* The message in flight that an answer means, if there is one. */
static u32 means_one(struct ni *ni, const struct packet *data) {
    u32 token = data->w0 >> 8 & 0xFF, source = data->w1 >> 8 & 0xFF;
    struct board *board = ni->by_token[token];
    struct entry *entry;
    if (!board) return 0;
    entry = &board->entry[token - board->first_token];
    if (entry->state != SENT || entry->sequence != (data->w0 & 0xFF)) return 0;
    return (entry->stream >> ni->channel_shift & ((1u << ni->node_shift) - 1)) == source;
}

/* Behind a message that is answered others may be answered before it. */
static void free_all(struct ni *ni, struct board *board) {
    if (!board->count || board->entry[board->first].state != DONE) return;
    while (!free_message(ni, board)) continue;
}

/* From the refused message on, what has left of its stream is to be sent again, after the retry delay. */
static void roll_back(struct ni *ni, u32 token) {
    struct board *board = ni->by_token[token];
    u32 slot = token - board->first_token, stream = board->entry[slot].stream;
    struct outgoing *out = &ni->outgoing[stream];
    u32 left = board->count - (number_of(board, slot) - board->head);
    for (; left; left--) {
        u32 next = roll_back_step(ni, board, out, slot, stream);
        if (next == slot) break;
        slot = next;
    }
    if (!ni->retry_delay) {
        wake(ni, out, stream);
    } else if (!(out->flags & 1)) {
        retry_hold(ni, out, stream);
    }
}

static void answered(struct ni *ni, struct packet *data, u32 type) {
    u32 token = data->w0 >> 8 & 0xFF;
    if (type > TYPE_ERROR || !means_one(ni, data)) {
        answer_strange(ni);
    } else if (type == TYPE_ACK) {
        ack_seen(ni);
        free_all(ni, ni->by_token[token]);
    } else if (type == TYPE_NACK) {
        nack_seen(ni);
        roll_back(ni, token);
    } else {
        fail(ni, token, data->w1 >> 21 & 0x1F);
        error_seen(ni);
        free_all(ni, ni->by_token[token]);
    }
}

/* Whether a header names a stream that there is here. */
static u32 is_of_stream(struct ni *ni, const struct packet *data) {
    u32 w1 = data->w1, w3 = data->w3, source = w1 >> 8 & 0xFF;
    return w3 >> 24 < ni->sources && (w3 >> 16 & 0xFF) < ni->channel_count && source < ni->nodes && source != ni->me;
}

static void stray(struct ni *ni) {
    struct buffer *buffer = ni->armed;
    packet(ni, 8);
    ni->strange++;
    release(ni, buffer);
}

static void message(struct ni *ni, struct packet *data, u32 length) {
    u32 w0 = data->w0, source = data->w1 >> 8 & 0xFF, origin = data->w3 >> 24, target = data->w3 >> 16 & 0xFF;
    struct channel *channel = &ni->channels[target];
    struct incoming *in = &ni->incoming[stream_of(ni, origin, source, target)];
    if (UNLIKELY(in->expected != (w0 & 0xFF))) {
        if (!in->refusing) ni->out_of_sequence++;
        receive_dropped(ni);
    } else if (UNLIKELY((data->w2 & 0xFFFF) != ni->me_word || data->w1 >> 26 >= TYPE_REPORT)) {
        send_error(ni);
    } else if (LIKELY(fits(SHARED32(&channel->host_front), channel->queue_back, length, ni->host_limit))) {
        receive_message(ni);
        send_ack(ni, w0, source, target);
    } else {
        send_nack(ni);
    }
}

/* What stands behind a packet: its syndrome; RMP stands behind the word with that. */
static u32 is_bad(struct ni *ni, struct packet *data, u32 length, u32 is_control) {
    if (UNLIKELY(data->w0 >> 16 != GRIM_ID || length > ni->host_slot || ni->armed->drained)) return 1;
    if (LIKELY(!is_control) && UNLIKELY(REGISTER_READ(RMP) != (u32)data + length + SRAM_WORD)) return 1;
    return BYTE((u8 *)data + length);
}

static void arrived(struct ni *ni) {
    struct packet *data = ni->armed->data;
    u32 type = data->w1 >> 26, is_control = type >= TYPE_ACK, length = is_control ? 8 : length_of(data->w2);
    if (UNLIKELY(is_bad(ni, data, length, is_control))) {
        ni->armed->drained = 0;
        receive_bad(ni);
    } else if (!is_control) {
        if (LIKELY(is_of_stream(ni, data))) {
            message(ni, data, length);
        } else {
            stray(ni);
        }
    } else if (type == TYPE_SYNC) {
        sync_heard(ni);
    } else if (type == TYPE_SYNC_ANSWER) {
        sync_answered(ni);
    } else {
        answered(ni, data, type);
    }
}
