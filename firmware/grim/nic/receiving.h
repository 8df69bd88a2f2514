/* Paths of receiving.py. */
static inline struct incoming *look(struct ni *ni, struct packet *data, u32 *target, u32 *source) {
    u32 w1 = data->w1, w3 = data->w3;
    u32 from = w3 >> 24;
    *target = w3 >> 16 & 0xFF;
    *source = w1 >> 8 & 0xFF;
    if (UNLIKELY(from >= ni->sources || *target >= ni->channel_count || *source >= ni->nodes)) {
        OFF_PATH("no such stream");
        ni->strange++;
        INSTEAD(of_no_stream(ni));
    }
    return &ni->incoming[stream_of(ni, from, *source, *target)];
}

static inline u32 is_next(const struct incoming *in, const struct packet *data) { return in->expected == (data->w0 & 0xFF); }

static inline u32 is_here(struct ni *ni, const struct packet *data) { return (data->w2 & 0xFFFF) == ni->me_word; }

/* Check that a message is the next of its stream, and for this NI's host. */
static inline __attribute__((always_inline)) u32 is_for_host(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data, u32 length) {
    if (UNLIKELY(length > ni->host_slot || data->w1 >> 26 >= 3)) {
        OFF_PATH("no message for a host");
        INSTEAD(not_believed(ni, buffer));
        return 0;
    }
    if (UNLIKELY(!is_next(in, data) || !is_here(ni, data))) {
        OFF_PATH("not its turn, or its endpoint is not here");
        INSTEAD(not_taken(ni, in, buffer, data));
        return 0;
    }
    return 1;
}

/* Drop a message behind a rejected one. */
static inline __attribute__((always_inline)) void out_of_order(struct ni *ni, struct incoming *in, struct buffer *buffer) {
    if (LIKELY(in->refusing)) {
        ni->dropped++;
    } else {
        OFF_PATH("one before it was lost");
        ni->out_of_sequence++;
    }
    release(ni, buffer);
}

/* Answer a message without room by a NACK. */
static inline __attribute__((always_inline)) void refuse(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data) {
    u32 source = data->w1 >> 8 & 0xFF, target = data->w3 >> 16 & 0xFF, w0 = data->w0;
    in->refusing = 1;
    ni->nacks_sent++;
    answer(ni, source, w0, TYPE_NACK << 26 | target << 16 | ni->answer_word);
    release(ni, buffer);
}

/* Answer a message that can never succeed by an ERROR. */
static inline __attribute__((always_inline)) void impossible(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data, u32 cause) {
    u32 source = data->w1 >> 8 & 0xFF, target = data->w3 >> 16 & 0xFF, w0 = data->w0;
    in->expected++;
    in->refusing = 0;
    ni->errors_sent++;
    answer(ni, source, w0, TYPE_ERROR << 26 | cause << 21 | target << 16 | ni->answer_word);
    release(ni, buffer);
}

/* Accept a message: check the room, append two control blocks, start the DMA. */
static inline __attribute__((always_inline)) void accept(struct ni *ni, struct incoming *in, struct channel *channel, struct buffer *buffer, struct packet *data, u32 length, u32 early) {
    u32 tail, back = channel->queue_back;
    if (UNLIKELY(!fits(SHARED32(&channel->host_front), back, length, ni->host_limit))) {
        OFF_PATH("no room");
        INSTEAD(no_room(ni, in, buffer, data));
        return;
    }
    in->expected++;
    in->refusing = 0;
    tail = ni->block_tail;
    if (LIKELY(early < length))
        tail = post(ni, tail, (u32)data + early, channel->host_base + back + 64 + early, length - early, 0, 0, data->w0);
    back = following(back, length, ni->host_limit);
    channel->queue_back = back;
    ni->block_tail = post_word(ni, tail, back, channel->host_base, buffer, data->w0);
    REGISTER_WRITE(PULSE, 1);
}

/* Accept a message. */
void receive_message(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    u32 early = ni->early_offset;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    if (is_for_host(ni, in, buffer, data, length)) accept(ni, in, &ni->channels[target], buffer, data, length, early);
}

/* Additional cost of a message for the node's FPGA card: select the other ring; its back pointer is a register of the
 * card. */
void receive_for_card(struct ni *ni, u32 length) {
    struct ring *ring = ni->ring;
    u32 back = ring->back;
    if (UNLIKELY(!fits(SHARED32(&ring->front), back, length, ni->card_limit))) {
        OFF_PATH("no room");
        return;
    }
    ring->back = following(back, length, ni->card_limit);
    ni->ring = ring->other;
}

/* Send the ACK of an accepted message. */
void send_ack(struct ni *ni, u32 w0, u32 source, u32 target) {
    answer(ni, source, w0, TYPE_ACK << 26 | target << 16 | ni->answer_word);
    ni->accepted++;
}

/* Send a NACK for a message without room. */
void send_nack(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    struct channel *channel = &ni->channels[target];
    if (!is_for_host(ni, in, buffer, data, length)) return;
    if (LIKELY(full(SHARED32(&channel->host_front), channel->queue_back, length, ni->host_limit))) refuse(ni, in, buffer, data);
}

/* Drop a message behind a rejected one silently. */
void receive_dropped(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    if (LIKELY(!is_next(in, data))) out_of_order(ni, in, buffer);
}

/* Drop an invalid packet. */
void receive_bad(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2);
    struct buffer *buffer = ni->armed;
    packet(ni, length);
    ni->bad++;
    release(ni, buffer);
}

/* Send an ERROR for a message that can never succeed. */
void send_error(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    if (UNLIKELY(!is_next(in, data))) {
        OFF_PATH("not its turn");
        INSTEAD(not_taken(ni, in, buffer, data));
        return;
    }
    if (LIKELY(!is_here(ni, data))) {
        impossible(ni, in, buffer, data, UNKNOWN_ENDPOINT);
        return;
    }
    OFF_PATH("of a type that is not known");
    impossible(ni, in, buffer, data, UNKNOWN_TYPE);
}

/* Check, after the first part of a long message, whether it will be accepted. */
u32 early_look(struct ni *ni) {
    struct packet *data = ni->armed->data;
    u32 length = length_of(data->w2), target, source;
    struct incoming *in = look(ni, data, &target, &source);
    struct channel *channel = &ni->channels[target];
    if (UNLIKELY(length > ni->host_slot || data->w1 >> 26 >= 3 || in->expected != (data->w0 & 0xFF))) {
        OFF_PATH("not yet, or no message for a host");
        return 0;
    }
    if (UNLIKELY(!fits(SHARED32(&channel->host_front), channel->queue_back, length, ni->host_limit))) {
        OFF_PATH("no room");
        return 0;
    }
    ni->early_channel = channel;
    ni->early_length = length;
    ni->early++;
    return 1;
}

/* Start the DMA of a piece of it. */
void early_piece(struct ni *ni) {
    struct packet *data = ni->armed->data;
    struct channel *channel = &ni->channels[data->w3 >> 16 & 0xFF];
    u32 arrived = REGISTER_READ(RMP) - (u32)data, done = ni->early_offset;
    if (UNLIKELY(arrived >= ni->early_length)) {
        OFF_PATH("all of the message");
        arrived = ni->early_length;
        if (arrived == done) return;
    } else if (UNLIKELY(arrived - done < ni->least)) {
        OFF_PATH("too little");
        return;
    }
    ni->block_tail = post(ni, ni->block_tail, (u32)data + done, channel->host_base + channel->queue_back + 64 + done, arrived - done, WAKE, 0, data->w0);
    REGISTER_WRITE(PULSE, 1);
    ni->early_offset = arrived;
}

/* The word changed in a buffer that is not armed, or is the sentinel again. */
u32 early_nothing(struct ni *ni, struct buffer *buffer, u32 *word, u32 *expected) {
    *expected = SHARED32(word);
    if (LIKELY(ni->armed != buffer)) return 0;
    return 1;
}

/* Process the two completed DMA blocks of a message: free its buffer. */
void dma_done(struct ni *ni) {
    u32 done = ni->block_done, next = (done + 1) & ni->block_mask;
    struct buffer *buffer;
    REGISTER_WRITE(ISR, ISR_WAKE_DONE);
    if (UNLIKELY(!(SHARED32(&ni->block[done].next) & TERMINAL) || ni->queued[done].frees)) {
        OFF_PATH("not data");
        return;
    }
    if (LIKELY(SHARED32(&ni->block[next].next) & TERMINAL)) {
        buffer = ni->queued[next].frees;
        if (LIKELY(buffer != 0)) release(ni, buffer);
        next = (next + 1) & ni->block_mask;
    }
    ni->block_done = next;
    if (UNLIKELY(next != ni->block_tail)) {
        OFF_PATH("more under way");
        if (ni->early_offset) ni->early++;
    }
}

/* Handle a packet longer than any message. */
void receive_overlong(struct ni *ni) {
    struct buffer *buffer = ni->armed;
    REGISTER_WRITE(ISR, ISR_BUFF);
    buffer->drained = 1;
    REGISTER_WRITE(RMP, buffer->data);
    REGISTER_WRITE(RML, buffer->limit);
}
