/* Step for a complete packet, in the order of receiving.py. */

/* Return true if an answer matches a message in flight. */
static u32 means_one(struct ni *ni, const struct packet *data) {
    u32 token = data->w0 >> 8 & 0xFF, source = data->w1 >> 8 & 0xFF;
    struct board *board = ni->by_token[token];
    struct entry *entry;
    if (!board) return 0;
    entry = &board->entry[token - board->first_token];
    if (entry->state != SENT || entry->sequence != (data->w0 & 0xFF)) return 0;
    return (entry->stream >> ni->channel_shift & ((1u << ni->node_shift) - 1)) == source;
}

/* Free all acknowledged messages behind an answered one. */
static void free_all(struct ni *ni, struct board *board) {
    if (!board->count || board->entry[board->first].state != DONE) return;
    while (!free_message(ni, board)) continue;
}

/* Roll back a rejected message and its successors for retransmission after the retry delay. */
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

void begin_again(struct ni *ni, struct buffer *buffer) {
    ni->bad++;
    ni->early_offset = 0;
    SHARED32(buffer->sentinel) = SENTINEL;
    REGISTER_WRITE(RMP, buffer->data);
    REGISTER_WRITE(RML, buffer->limit);
}

void not_believed(struct ni *ni, struct buffer *buffer) {
    ni->bad++;
    release(ni, buffer);
}

/* The buffer to release was armed before. If no buffer is armed, `other` is the one that was not. */
void of_no_stream(struct ni *ni) { release(ni, ni->armed ? ni->other : ni->other->pair); }

void not_taken(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data) {
    if (is_next(in, data)) {
        impossible(ni, in, buffer, data, UNKNOWN_ENDPOINT);
    } else {
        out_of_order(ni, in, buffer);
    }
}

void no_room(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data) { refuse(ni, in, buffer, data); }

/* Return true if a header names a known stream. */
static u32 is_of_stream(struct ni *ni, const struct packet *data) {
    u32 w1 = data->w1, w3 = data->w3, source = w1 >> 8 & 0xFF;
    return w3 >> 24 < ni->sources && (w3 >> 16 & 0xFF) < ni->channel_count && source < ni->nodes && source != ni->me;
}

/* Answer a message of an unsupported type. */
static APART void unknown(struct ni *ni) { send_error(ni); }

static APART void controlled(struct ni *ni, struct packet *data, u32 type) {
    if (type == TYPE_SYNC) {
        sync_heard(ni);
    } else if (type == TYPE_SYNC_ANSWER) {
        sync_answered(ni);
    } else if (data->w0 >> 16 == GRIM_ID && !BYTE((u8 *)data + 8)) {
        answered(ni, data, type);
    } else {
        receive_bad(ni);
    }
}

static INLINED FLAT void arrived(struct ni *ni) {
    struct packet *data = ni->armed->data;
    u32 w0 = data->w0, w1 = data->w1, target = data->w3 >> 16 & 0xFF, type = w1 >> 26;
    if (UNLIKELY(ni->armed->drained)) {
        ni->armed->drained = 0;
        receive_bad(ni);
    } else if (LIKELY(type < TYPE_REPORT)) {
        receive_message(ni);
        DMA_START(); /* before the answer, like the coroutine */
        send_ack(ni, w0, w1 >> 8 & 0xFF, target);
    } else if (type >= TYPE_ACK) {
        controlled(ni, data, type);
    } else {
        unknown(ni);
    }
}
