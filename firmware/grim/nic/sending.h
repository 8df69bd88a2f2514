/* Paths of sending.py. */
/* Append a stream to the list of ready streams, if it is not in it. */
static inline void wake(struct ni *ni, struct outgoing *out, u32 stream) {
    if (LIKELY(out->waiting && !out->flags && out->in_flight < ni->window)) {
        out->flags = 2;
        ni->ready[(ni->ready_head + ni->ready_count) & ni->ready_mask] = stream;
        ni->ready_count++;
    }
}

/* Let the last entered message wait behind the others of its stream. */
static inline void behind(struct ni *ni, struct board *board, struct outgoing *out, u32 vnn) {
    if (UNLIKELY(!out->waiting)) {
        OFF_PATH("first one");
        ni->cursor[out - ni->outgoing] = board->head + board->count - 1;
    }
    out->waiting++;
    if (UNLIKELY(vnn == ni->me)) {
        OFF_PATH("its root is here");
        wake(ni, out, out - ni->outgoing);
    }
}

/* Block a channel with a new message while the scoreboard is full. */
void channel_blocked(struct ni *ni, struct board *board) {
    if (LIKELY(board->count == board->slots)) {
        board->blocked = 1;
        ni->blocked++;
    }
}

/* Send a new message of an open stream: scoreboard, route and word 0, link. */
void send_message(struct ni *ni, struct channel *channel, struct board *board, u32 index) {
    u32 slot, vnn;
    struct outgoing *out;
    if (UNLIKELY(board->count == board->slots)) {
        OFF_PATH("blocked");
        if (!board->blocked) channel_blocked(ni, board);
        return;
    }
    out = enter(ni, channel, board, index, &slot, &vnn);
    if (UNLIKELY(out->in_flight >= ni->window || out->waiting || out->flags || vnn == ni->me)) {
        OFF_PATH("later");
        behind(ni, board, out, vnn);
        return;
    }
    ni->sent++;
    prepare(ni, board, &board->entry[slot], out, vnn, board->first_token + slot);
}

/* Enter a new message of a stream that is not open, or of a tree rooted here, into the scoreboard only. */
void send_later(struct ni *ni, struct channel *channel, struct board *board, u32 index) {
    u32 slot, vnn;
    struct outgoing *out;
    if (UNLIKELY(board->count == board->slots)) {
        OFF_PATH("blocked");
        return;
    }
    out = enter(ni, channel, board, index, &slot, &vnn);
    behind(ni, board, out, vnn);
}

static inline struct outgoing *next_ready(struct ni *ni, u32 *stream) {
    struct outgoing *out;
    *stream = ni->ready[ni->ready_head & ni->ready_mask];
    out = &ni->outgoing[*stream];
    ni->ready_head++;
    ni->ready_count--;
    out->flags &= ~2u;
    return out;
}

/* Process the turn of a stream that may no longer send. */
u32 resend_nothing(struct ni *ni) {
    u32 stream;
    struct outgoing *out = next_ready(ni, &stream);
    if (UNLIKELY(out->waiting && !out->flags && out->in_flight < ni->window)) {
        OFF_PATH("ready");
        return 0;
    }
    return 1;
}

/* Examine one scoreboard entry in the search for a stream's oldest waiting message. */
u32 resend_find(struct ni *ni, struct board *board, u32 slot, u32 stream) {
    struct entry *entry = &board->entry[slot];
    if (UNLIKELY(entry->state == WAITING && entry->stream == stream)) {
        OFF_PATH("found");
        return slot;
    }
    LOOP_AGAIN();
    return slot_after(board, slot);
}

/* Send the oldest waiting message of the ready stream whose turn it is, and queue the stream again. */
void resend_message(struct ni *ni, u32 slot) {
    u32 stream, vnn;
    struct outgoing *out = next_ready(ni, &stream);
    struct board *board;
    if (UNLIKELY(out->flags || out->in_flight >= ni->window)) {
        OFF_PATH("not ready");
        return;
    }
    board = &ni->boards[stream >> ni->node_shift >> ni->channel_shift];
    vnn = stream >> ni->channel_shift & ((1u << ni->node_shift) - 1);
    out->waiting--;
    ni->cursor[stream] = number_of(board, slot) + 1;
    (&ni->sent)[board->entry[slot].again]++;
    prepare(ni, board, &board->entry[slot], out, vnn, board->first_token + slot);
    wake(ni, out, stream);
}

/* Enter a new message with payload in host memory into the scoreboard, and post the control block that fetches it. */
void send_fetch(struct ni *ni, struct channel *channel, struct board *board, u32 index) {
    u32 slot, vnn, tail = ni->fetch_tail;
    struct message *message = (struct message *)(board->base + channel->next);
    u32 host = message->route_high, words = message->w2 >> 16;
    struct block *block = &ni->fetch[tail];
    struct outgoing *out;
    if (UNLIKELY(board->count == board->slots || !host)) {
        OFF_PATH("blocked, or no such message");
        return;
    }
    out = enter(ni, channel, board, index, &slot, &vnn);
    board->entry[slot].state = FETCHING;
    if (LIKELY(!out->waiting)) ni->cursor[out - ni->outgoing] = board->head + board->count - 1;
    out->waiting++;
    ni->fetch_tail = (tail + 1) & ni->fetch_mask;
    ni->fetched[tail] = &board->entry[slot];
    block->len = words * 4 - (message->w1 >> 24 & 3);
    block->lar = (u32)&message->payload;
    block->eah = 0;
    block->eal = host;
    SHARED32(&block->next) = (u32)&ni->fetch[ni->fetch_tail] | WAKE | 1;
    REGISTER_WRITE(PULSE, 4);
}

/* Release a message whose payload was fetched, and notify its host. */
void fetch_done(struct ni *ni, struct channel *channel) {
    u32 done = ni->fetch_done, stream;
    struct entry *entry = ni->fetched[done];
    struct outgoing *out;
    REGISTER_WRITE(ISR, 0x20);
    if (UNLIKELY(!(SHARED32(&ni->fetch[done].next) & TERMINAL))) {
        OFF_PATH("nothing");
        return;
    }
    ni->fetch_done = (done + 1) & ni->fetch_mask;
    entry->state = WAITING;
    stream = entry->stream;
    out = &ni->outgoing[stream];
    if (LIKELY(!out->flags && out->in_flight < ni->window)) {
        out->flags = 2;
        ni->ready[(ni->ready_head + ni->ready_count) & ni->ready_mask] = stream;
        ni->ready_count++;
    }
    channel->fetched++;
    ni->block_tail = post_word(ni, ni->block_tail, channel->fetched, channel->host_base + 16, 0, 0);
    REGISTER_WRITE(PULSE, 1);
}

/* Process the turn of a channel without further messages (doorbells). */
u32 news_nothing(struct ni *ni) {
    struct channel *channel = &ni->channels[ni->news[ni->news_head & ni->channel_mask]];
    ni->news_head++;
    ni->news_count--;
    if (UNLIKELY(SHARED32(&channel->back) != channel->next)) {
        OFF_PATH("a message");
        return 0;
    }
    channel->queued = 0;
    return 1;
}

#if !defined(EXECUTED) || defined(REGISTER_DOORBELL_CONSUMER0)
/* Process one entry of the doorbell FIFO: the channel's new back pointer, and its place in the list of channels with
 * messages. */
void doorbell_entry(struct ni *ni) {
    u32 *entry, index;
    struct channel *channel;
    entry = &ni->doorbells[(ni->consumer & ni->doorbell_mask) * 2];
    index = (entry[0] - 0x808000) >> 2;
    channel = &ni->channels[index];
    SHARED32(&channel->back) = entry[1];
    if (LIKELY(!channel->queued)) {
        channel->queued = 1;
        ni->news[(ni->news_head + ni->news_count) & ni->channel_mask] = index;
        ni->news_count++;
    }
    ni->consumer++;
    REGISTER_WRITE(DOORBELL_CONSUMER0, ni->consumer);
    LOOP_AGAIN();
}
#endif

/* Start the oldest answer of the control-message queue on the link. Its route is right-aligned. */
static inline void start_control(struct ni *ni) {
    struct control *entry = &ni->control[ni->control_head++ & ni->control_mask];
    u32 word = entry->route_high ? entry->route_high : entry->route_low, skip = entry->route_high ? 0 : 4;
    for (; !(word >> 24); word <<= 8) skip++;
    ni->control_waiting--;
    start(ni, (u32)entry, skip, (u32)(entry + 1));
}

/* Process the end of a send when nothing else is to be sent. */
void send_done(struct ni *ni) {
    REGISTER_WRITE(ISR, ISR_SEND);
    ni->busy = 0;
    if (UNLIKELY(ni->control_waiting)) {
        OFF_PATH("an answer waits");
        start_control(ni);
        return;
    }
    if (UNLIKELY(ni->prepared)) {
        OFF_PATH("a message is prepared");
        start(ni, ni->prepared, ni->prepared_align, ni->prepared_limit);
        ni->prepared = 0;
    }
}
