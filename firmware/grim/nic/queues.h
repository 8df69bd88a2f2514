/* Paths that depend on queue style and sequencing. Those of the append queue with any-to-any sequencing are in
 * sending.h and answers.h. A slot is its own scoreboard entry; its first word holds the state. */
struct slot { u32 payload; u8 state, sequence; u16 stream; struct message message; };
struct slots { u32 first, count, slots, first_token, base, blocked, head, stride, limit, payload_base, payload_front, payload_limit, unused[3]; struct channel *channel; };
enum { ANY, PER_NI };
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS struct outgoing *stream_to(struct ni *ni, u32 index, u32 vnn, u32 target, u32 sequencing, u32 *stream) {
    *stream = sequencing == PER_NI ? vnn : stream_of(ni, index, vnn, target);
    return &ni->outgoing[*stream];
}

/* Record the token of a sequence number: with per-NI sequencing, a stream has messages of several channels. */
ALWAYS void remember(struct ni *ni, u32 vnn, u32 sequence, u32 token) { ni->by_sequence[vnn << 8 | (sequence & 0xFF)] = token; }

ALWAYS int no_message(struct ni *ni, u32 w1, u32 size, u32 vnn, u32 target) {
    return size > ni->slot || vnn >= ni->nodes || target >= ni->targets || w1 >> 26 > 0x1F;
}

ALWAYS void enter_slot(struct ni *ni, struct slots *queue, u32 index, u32 sequencing, u32 later, u32 hybrid) {
    struct slot *slot = (struct slot *)(queue->base + queue->channel->next);
    struct message *message = &slot->message;
    u32 w1 = message->w1, w2 = message->w2, w3 = message->w3, sequence, stream;
    u32 size = length_of(w2) + ROUTE_BYTES;
    u32 vnn = w2 >> 8 & 0xFF, target = w3 >> 16 & 0xFF, token = queue->first_token + slot_behind((struct board *)queue);
    struct outgoing *out;
    struct route *route = &ni->routes[vnn];
    if (UNLIKELY(no_message(ni, w1, size, vnn, target))) {
        OFF_PATH("no message");
        ni->errors++;
    }
    out = stream_to(ni, index, vnn, target, sequencing, &stream);
    sequence = out->sequence++;
    if (sequencing == PER_NI) remember(ni, vnn, sequence, token);
    queue->count++;
    queue->channel->next = following(queue->channel->next, queue->stride, queue->limit);
    slot->sequence = sequence;
    slot->stream = stream;
    if (later) {
        slot->state = WAITING;
        if (UNLIKELY(!out->waiting)) {
            OFF_PATH("first one");
            ni->cursor[stream] = sequencing == PER_NI ? (u8)sequence : queue->head + queue->count - 1;
        }
        out->waiting++;
        if (UNLIKELY(vnn == ni->me)) {
            OFF_PATH("its root is here");
            wake(ni, out, stream);
        }
        return;
    }
    if (UNLIKELY(out->in_flight >= ni->window || out->waiting || out->flags || vnn == ni->me)) {
        OFF_PATH("later");
        return;
    }
    slot->state = SENT;
    out->in_flight++;
    ni->sent++;
    message->route_high = route->high;
    message->route_low = route->low;
    message->w0 = GRIM_ID << 16 | token << 8 | (sequence & 0xFF);
    if (UNLIKELY(ni->busy)) {
        OFF_PATH("prepared only");
        ni->prepared = (u32)message;
        return;
    }
    if (hybrid) {
        if (LIKELY(route->skip != ni->prepared_skip)) {
            ni->prepared_skip = route->skip;
            REGISTER_WRITE(SA, route->skip);
        }
        REGISTER_WRITE(SMP, message);
        ni->busy = 1;
        if (UNLIKELY(!(w2 >> 16))) {
            OFF_PATH("no payload");
            REGISTER_WRITE(SMLT, (u32)message + size);
            return;
        }
        REGISTER_WRITE(SML, (u32)message + ROUTE_BYTES + HEADER_BYTES);
        ni->second = queue->payload_base + slot->payload;
        ni->second_limit = ni->second + size - ROUTE_BYTES - HEADER_BYTES;
    } else {
        start(ni, (u32)message, route->skip, (u32)message + size);
    }
}

void slotted_send(struct ni *ni, struct slots *queue, u32 index) { enter_slot(ni, queue, index, ANY, 0, 0); }
void slotted_send_ni(struct ni *ni, struct slots *queue, u32 index) { enter_slot(ni, queue, index, PER_NI, 0, 0); }
void hybrid_send(struct ni *ni, struct slots *queue, u32 index) { enter_slot(ni, queue, index, ANY, 0, 1); }
void hybrid_send_ni(struct ni *ni, struct slots *queue, u32 index) { enter_slot(ni, queue, index, PER_NI, 0, 1); }
void slotted_later(struct ni *ni, struct slots *queue, u32 index) { enter_slot(ni, queue, index, ANY, 1, 0); }
void slotted_later_ni(struct ni *ni, struct slots *queue, u32 index) { enter_slot(ni, queue, index, PER_NI, 1, 0); }

/* Enter a message of an append queue with per-NI sequencing. */
ALWAYS void enter_per_ni(struct ni *ni, struct channel *channel, struct board *board, u32 later) {
    struct message *message = (struct message *)(board->base + channel->next);
    u32 w1 = message->w1, w2 = message->w2, w3 = message->w3;
    u32 size = length_of(w2) + ROUTE_BYTES;
    u32 vnn = w2 >> 8 & 0xFF, target = w3 >> 16 & 0xFF, slot, sequence;
    struct outgoing *out = &ni->outgoing[vnn];
    struct entry *entry;
    if (UNLIKELY(board->count == board->slots || no_message(ni, w1, size, vnn, target))) {
        OFF_PATH("blocked, or no message");
        return;
    }
    slot = slot_behind(board);
    entry = &board->entry[slot];
    board->count++;
    sequence = out->sequence++;
    remember(ni, vnn, sequence, board->first_token + slot);
    entry->offset = channel->next;
    entry->size = size;
    entry->stream = vnn;
    entry->sequence = sequence;
    entry->state = WAITING;
    entry->again = 0;
    channel->next = following(channel->next, size, ni->limit);
    if (later) {
        if (UNLIKELY(!out->waiting)) {
            OFF_PATH("first one");
            ni->cursor[vnn] = (u8)sequence;
        }
        out->waiting++;
        if (UNLIKELY(vnn == ni->me)) {
            OFF_PATH("its root is here");
            wake(ni, out, vnn);
        }
        return;
    }
    if (UNLIKELY(out->in_flight >= ni->window || out->waiting || out->flags || vnn == ni->me)) {
        OFF_PATH("later");
        return;
    }
    ni->sent++;
    prepare(ni, board, entry, out, vnn, board->first_token + slot);
}

void send_per_ni(struct ni *ni, struct channel *channel, struct board *board) { enter_per_ni(ni, channel, board, 0); }
void later_per_ni(struct ni *ni, struct channel *channel, struct board *board) { enter_per_ni(ni, channel, board, 1); }

/* Hybrid queue: start the payload after its header. */
void hybrid_payload(struct ni *ni) {
    REGISTER_WRITE(ISR, ISR_SEND);
    if (LIKELY(ni->prepared_skip != 0)) {
        ni->prepared_skip = 0;
        REGISTER_WRITE(SA, 0);
    }
    REGISTER_WRITE(SMP, ni->second);
    REGISTER_WRITE(SMLT, ni->second_limit);
    ni->second = 0;
}

/* Complete the oldest message of a slotted queue, whose successor is unacknowledged. */
ALWAYS void slot_done(struct ni *ni, u32 hybrid) {
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, 8);
    u32 w0 = data->w0, type = data->w1 >> 26, token = w0 >> 8 & 0xFF, bytes;
    struct slots *queue = (struct slots *)ni->by_token[token];
    struct slot *slot = ni->slot_at[token];
    struct outgoing *out;
    release(ni, buffer);
    if (UNLIKELY(type != TYPE_ACK || slot->state != SENT || slot->sequence != (w0 & 0xFF))) {
        OFF_PATH("strange");
        ni->strange++;
        return;
    }
    ni->acks++;
    slot->state = DONE;
    out = &ni->outgoing[slot->stream];
    out->in_flight--;
    if (LIKELY(token - queue->first_token == queue->first)) {
        queue->first = slot_after((struct board *)queue, queue->first);
        queue->count--;
        queue->head++;
        SHARED32(&queue->channel->front) = following((u32)slot - queue->base, queue->stride, queue->limit);
        if (hybrid) {
            bytes = length_of(slot->message.w2) - HEADER_BYTES;
            if (LIKELY(bytes)) queue->payload_front = following(slot->payload, bytes, queue->payload_limit);
            SHARED32(&queue->channel->payload_front) = queue->payload_front;
        }
    }
    if (UNLIKELY(out->waiting)) {
        OFF_PATH("others wait for the window");
        ni->ready_count++;
    }
}

void slotted_ack(struct ni *ni) { slot_done(ni, 0); }
void hybrid_ack(struct ni *ni) { slot_done(ni, 1); }

/* Roll back one slot. */
u32 slotted_back(struct ni *ni, struct slot *slot, struct outgoing *out, u32 stream, u32 stride) {
    if (LIKELY(slot->stream == stream && slot->state == SENT)) {
        slot->state = WAITING;
        out->in_flight--;
        out->waiting++;
        ni->rolled_back++;
    } else if (slot->stream == stream && slot->state == WAITING) {
        OFF_PATH("what is behind it has not left");
        return (u32)slot;
    }
    LOOP_AGAIN();
    return (u32)slot + stride;
}

/* Roll back one message by sequence number, from its token to its entry. */
u32 per_ni_back_step(struct ni *ni, u32 vnn, u32 sequence, struct outgoing *out) {
    u32 token = ni->by_sequence[vnn << 8 | (sequence & 0xFF)];
    struct board *board = ni->by_token[token];
    struct entry *entry = &board->entry[token - board->first_token];
    if (LIKELY(entry->stream == vnn && entry->state == SENT && entry->sequence == (sequence & 0xFF))) {
        entry->state = WAITING;
        entry->again = 1;
        out->in_flight--;
        out->waiting++;
        ni->rolled_back++;
    } else if (entry->stream == vnn && entry->state == WAITING) {
        OFF_PATH("what is behind it has not left");
        return sequence;
    }
    LOOP_AGAIN();
    return sequence + 1;
}

/* Examine one slot in the search for a stream's oldest waiting message. */
u32 slotted_find(struct slot *slot, u32 stream, u32 stride) {
    if (UNLIKELY(slot->state == WAITING && slot->stream == stream)) {
        OFF_PATH("found");
        return (u32)slot;
    }
    LOOP_AGAIN();
    return (u32)slot + stride;
}

/* Examine one sequence number in the search for a stream's oldest waiting message. */
u32 per_ni_find(struct ni *ni, u32 vnn, u32 sequence) {
    u32 token = ni->by_sequence[vnn << 8 | (sequence & 0xFF)];
    struct board *board = ni->by_token[token];
    struct entry *entry = &board->entry[token - board->first_token];
    if (UNLIKELY(entry->state == WAITING && entry->stream == vnn)) {
        OFF_PATH("found");
        return token;
    }
    LOOP_AGAIN();
    return sequence + 1;
}

/* Accept a message with per-NI sequencing. */
void receive_per_ni(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    u32 early = ni->early_offset;
    struct packet *data = packet(ni, length);
    struct incoming *in;
    target = data->w3 >> 16 & 0xFF;
    source = data->w1 >> 8 & 0xFF;
    if (UNLIKELY(target >= ni->channel_count || source >= ni->nodes)) {
        OFF_PATH("no such stream");
        return;
    }
    in = &ni->incoming[source];
    if (is_for_host(ni, in, buffer, data, length)) accept(ni, in, &ni->channels[target], buffer, data, length, early);
}
