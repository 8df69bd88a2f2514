/* Paths of answers.py and of the synchronisation in scan.py. */
/* Process an answer of a kind, which completes the message that it refers to. */
static inline __attribute__((always_inline)) void ended(struct ni *ni, u32 kind, u32 *count) {
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, 8);
    u32 w0 = data->w0, type = data->w1 >> 26;
    struct board *board;
    struct entry *entry;
    release(ni, buffer);
    if (LIKELY(type == kind)) {
        *count = *count + 1;
        entry = meant(ni, w0, &board);
        finish(ni, board, entry);
    }
}

/* Process an ACK. */
void ack_seen(struct ni *ni) { ended(ni, TYPE_ACK, &ni->acks); }

/* Free one more message that was acknowledged before older ones. */
u32 free_message(struct ni *ni, struct board *board) {
    struct entry *entry;
    board->first = slot_after(board, board->first);
    board->count--;
    board->head++;
    entry = &board->entry[board->first];
    if (UNLIKELY(!board->count || entry->state != DONE)) {
        OFF_PATH("the oldest in flight");
        SHARED32(&board->channel->front) = board->count ? entry->offset : board->channel->next;
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Process a NACK, before the roll-back. */
void nack_seen(struct ni *ni) {
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, 8);
    u32 w0 = data->w0, type = data->w1 >> 26;
    struct board *board;
    struct entry *entry;
    release(ni, buffer);
    if (UNLIKELY(type == TYPE_ACK)) {
        OFF_PATH("acknowledged");
        return;
    }
    if (LIKELY(type == TYPE_NACK)) {
        entry = meant(ni, w0, &board);
        ni->cursor[entry->stream] = number_of(board, (w0 >> 8 & 0xFF) - board->first_token);
        ni->nacks_seen++;
        if (UNLIKELY(ni->prepared && ni->prepared_stream == entry->stream)) {
            OFF_PATH("withdrawn");
            ni->prepared = 0;
        }
    }
}

/* Roll back one scoreboard entry. */
u32 roll_back_step(struct ni *ni, struct board *board, struct outgoing *out, u32 slot, u32 stream) {
    struct entry *entry = &board->entry[slot];
    if (LIKELY(entry->stream == stream && entry->state == SENT)) {
        entry->state = WAITING;
        entry->again = 1;
        out->in_flight--;
        out->waiting++;
        ni->rolled_back++;
    } else if (entry->stream == stream && entry->state == WAITING) {
        OFF_PATH("what is behind it has not left");
        return slot;
    }
    LOOP_AGAIN();
    return slot_after(board, slot);
}

/* Hold a stream for the retry delay. */
void retry_hold(struct ni *ni, struct outgoing *out, u32 stream) {
    struct held *held = &ni->held[(ni->held_head + ni->held_count) & ni->held_mask];
    out->flags |= 1;
    held->due = REGISTER_READ(RTC) + ni->retry_delay;
    held->stream = stream;
    if (LIKELY(ni->held_count++ == 0)) REGISTER_WRITE(IT0, ni->retry_delay);
}

/* End the retry delay of one stream. */
void retry_release(struct ni *ni) {
    struct held *held = &ni->held[ni->held_head & ni->held_mask];
    struct outgoing *out = &ni->outgoing[held->stream];
    u32 due;
    REGISTER_WRITE(ISR, ISR_TIME);
    if (LIKELY((int)(REGISTER_READ(RTC) - held->due) >= 0)) {
        ni->held_head++;
        out->flags &= ~1u;
        wake(ni, out, held->stream);
        ni->held_count--;
    }
    if (UNLIKELY(ni->held_count)) {
        OFF_PATH("more are held");
        held = &ni->held[ni->held_head & ni->held_mask];
        due = held->due - REGISTER_READ(RTC);
        REGISTER_WRITE(IT0, (int)due > 0 ? due : 1);
    }
}

/* Count an answer that matches no message. */
void answer_strange(struct ni *ni) {
    struct buffer *buffer = ni->armed;
    packet(ni, 8);
    release(ni, buffer);
    ni->strange++;
}

/* Process an ERROR: free the message. */
void error_seen(struct ni *ni) { ended(ni, TYPE_ERROR, &ni->errors); }

/* Write a report into the queue of its host. */
void error_report(struct ni *ni, struct channel *channel, struct packet *report, struct message *message, u32 cause, u32 index) {
    u32 back = channel->queue_back, tail;
    if (UNLIKELY(!fits(SHARED32(&channel->host_front), back, HEADER_BYTES, ni->host_limit))) {
        OFF_PATH("no room");
        return;
    }
    report->w0 = GRIM_ID << 16;
    report->w1 = TYPE_REPORT << 26 | ni->me_word;
    report->w2 = ni->me_word;
    report->w3 = index << 24 | index << 16;
    report->argument[0] = (message->w1 & 0xFFFF0000) | (message->w2 & 0xFFFF);
    report->argument[1] = (message->w3 & 0xFFFF0000) | cause;
    report->argument[2] = message->argument[0];
    report->argument[3] = message->argument[3];
    tail = post(ni, ni->block_tail, (u32)report, channel->host_base + back + 64, HEADER_BYTES, 0, 0, 0);
    back = following(back, HEADER_BYTES, ni->host_limit);
    appended(ni, channel, back);
    ni->block_tail = post_word(ni, tail, back, channel->host_base, 0, 0);
    REGISTER_WRITE(PULSE, 1);
}

/* Send a notice to one NI that this one was reset. */
void sync_notice(struct ni *ni, u32 vnn) { answer(ni, vnn, GRIM_ID << 16, TYPE_SYNC << 26 | ni->answer_word); }

/* Record and answer the notice of another NI. */
void sync_heard(struct ni *ni) {
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, 8);
    u32 peer = data->w1 >> 8 & 0xFF;
    release(ni, buffer);
    ni->heard |= 1u << peer;
    answer(ni, peer, GRIM_ID << 16, TYPE_SYNC_ANSWER << 26 | ni->answer_word);
}

/* Record the answer to this NI's notice. */
void sync_answered(struct ni *ni) {
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, 8);
    u32 peer = data->w1 >> 8 & 0xFF;
    release(ni, buffer);
    ni->answered |= 1u << peer;
}

/* Write the host's status word after synchronisation. */
void tell_host(struct ni *ni) {
    ni->block_tail = post_word(ni, ni->block_tail, 2, ni->channels->host_base + 8, 0, 0);
    REGISTER_WRITE(PULSE, 1);
}
