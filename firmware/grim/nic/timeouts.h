/* Paths of timeouts.py: the extension for networks that lose packets. */
/* Advance the window of a stream by one, after its oldest message was answered. */
void window_moves(struct ni *ni, struct entry *entry) {
    struct unanswered *window = &ni->unanswered[entry->stream];
    u32 sequence = entry->sequence;
    if (UNLIKELY(ni->prepared_stream == entry->stream && ni->prepared)) {
        OFF_PATH("a copy of it is prepared");
        ni->prepared = 0;
    }
    if (LIKELY(window->base == sequence)) {
        window->base = ++sequence;
        window->age = 0;
        if (UNLIKELY(window->answered[sequence >> 5 & 7] >> (sequence & 31) & 1)) {
            OFF_PATH("the next one too");
            window->answered[0] = 0;
        }
    }
}

/* Keep an answered message until the send engine has finished with its copy. */
void answer_late(struct ni *ni, struct entry *entry) {
    entry->state = ANSWERED;
    ni->late = entry;
}

/* Age one stream at a tick. */
u32 timeout_look(struct ni *ni, u16 *watched) {
    u32 stream = *watched;
    struct outgoing *out = &ni->outgoing[stream];
    struct unanswered *window = &ni->unanswered[stream];
    if (UNLIKELY(!out->in_flight || out->flags)) {
        OFF_PATH("nothing in flight, or held");
        return 1;
    }
    if (UNLIKELY(++window->age >= 4)) {
        OFF_PATH("no answer");
        return 2;
    }
    LOOP_AGAIN();
    return 0;
}

/* Process a time-out: count it, and find the stream's oldest message in flight. */
struct entry *timeout_expired(struct ni *ni, u32 stream, u32 peer, struct board *board) {
    struct unanswered *window = &ni->unanswered[stream];
    struct entry *entry = &board->entry[board->first];
    window->age = 0;
    ni->timeouts++;
    if (UNLIKELY(++ni->tries[peer] >= ni->most_tries)) {
        OFF_PATH("down");
        return 0;
    }
    if (LIKELY(entry->stream == stream && entry->state == SENT)) {
        ni->cursor[stream] = board->head;
        if (UNLIKELY(ni->prepared && ni->prepared_stream == stream)) {
            OFF_PATH("withdrawn");
            ni->prepared = 0;
        }
        ni->ready[(ni->ready_head + ni->ready_count) & ni->ready_mask] = stream;
        ni->ready_count++;
    }
    return entry;
}

/* Answer a duplicate again. */
void receive_again(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    u32 behind = (in->expected - (data->w0 & 0xFF)) & 0xFF;
    if (UNLIKELY(behind > 127 || !behind || (data->w2 & 0xFFFF) != ni->me_word)) {
        OFF_PATH("no copy");
        return;
    }
    ni->duplicates++;
    if (UNLIKELY(data->w1 >> 26 == TYPE_READ)) {
        OFF_PATH("its answer is the reply, which does not get lost");
        release(ni, buffer);
        return;
    }
    answer(ni, source, data->w0, TYPE_ACK << 26 | target << 16 | ni->answer_word);
    release(ni, buffer);
}

/* Check that a packet has whole words, so that its CRC-8 is alone in the last word, where it is read. */
u32 receive_exact(void) {
    if (UNLIKELY(~REGISTER_READ(ISR) & 7 << 8)) {
        OFF_PATH("characters too many");
        return 0;
    }
    return 1;
}

/* Check the connection of a packet. */
u32 connection_look(struct ni *ni) {
    u32 w1 = ni->armed->data->w1, source = w1 >> 8 & 0xFF;
    if (UNLIKELY(w1 >> 26 >= TYPE_SYNC)) {
        OFF_PATH("a notice, or its answer");
        return 0;
    }
    if (UNLIKELY(source >= ni->nodes) || UNLIKELY((w1 & 0xF0) != ni->tags[source])) {
        OFF_PATH("of no connection");
        return 0;
    }
    ni->tries[source] = 0;
    ni->answer_word = ni->me_word | OWN_DEVICE | ni->tags[source];
    return 1;
}

/* Write the connection tag into the header of a leaving message, in place of another child's tag. */
void connection_tag(struct ni *ni, struct message *message, u32 peer) {
    message->w1 = (message->w1 & ~0xF0) | ni->tags[peer];
}
