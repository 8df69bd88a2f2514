/* Paths of the polling loops: polls without an event. */
/* Poll ISR for a packet. */
u32 poll_receive(void) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & 2)) {
        OFF_PATH("a packet");
        return 1;
    }
    return 0;
}

/* Test another flag of the same sample. */
u32 poll_flag(u32 isr, u32 mask) {
    if (UNLIKELY(isr & mask)) {
        OFF_PATH("an event");
        return 1;
    }
    return 0;
}

/* Poll the sentinel of a receive buffer. */
u32 poll_arrival(u32 *word, u32 expected) {
    if (UNLIKELY(SHARED32(word) != expected)) {
        OFF_PATH("the first part has arrived");
        return 1;
    }
    return 0;
}

/* The link must be free to take a new message; otherwise only arrivals are polled. */
static inline u32 held(struct ni *ni) {
    if (UNLIKELY(ni->prepared)) {
        OFF_PATH("a message is prepared");
        return 1;
    }
    return 0;
}

/* Poll the number of streams that may retransmit. */
u32 poll_resend(struct ni *ni) {
    if (UNLIKELY(held(ni))) {
        OFF_PATH("no search");
        return 2;
    }
    if (UNLIKELY(ni->ready_count)) {
        OFF_PATH("a stream is ready");
        return 1;
    }
    return 0;
}

/* Poll the number of channels with new messages (doorbells). */
u32 poll_news(struct ni *ni) {
    if (UNLIKELY(ni->news_count)) {
        OFF_PATH("a channel has news");
        return 1;
    }
    return 0;
}

/* One step of the channel search (Figure 4.10): compare back and next, then go to the next channel unless it was the
 * last. */
struct channel *poll_channel(struct ni *ni, struct channel *channel) {
    if (UNLIKELY(SHARED32(&channel->back) != channel->next)) {
        OFF_PATH("a new message");
        return 0;
    }
    channel++;
    if (UNLIKELY(channel == ni->behind_channels)) {
        OFF_PATH("the round is over");
        return channel;
    }
    LOOP_AGAIN();
    return channel;
}

/* Poll the host's request for a timed search. */
u32 poll_wish(struct ni *ni) {
    if (UNLIKELY(SHARED32(&ni->wish))) {
        OFF_PATH("a search is to be timed");
        return 1;
    }
    return 0;
}

/* Begin a timed search after RTC was read. */
struct channel *search_begin(struct ni *ni) {
    if (UNLIKELY(held(ni))) {
        OFF_PATH("no search");
        return 0;
    }
    return ni->channels;
}

/* End a timed search that has found nothing; RTC is read next. */
void search_over(struct ni *ni) { ni->searches++; }

/* Record the duration of a timed search. */
void search_told(struct ni *ni, u32 begun, u32 over) {
    ni->ticks += over - begun;
    if (LIKELY((--ni->wish & 0xFFFF) == 0)) SHARED32(&ni->wish) = 0;
}

/* Poll the word by which the host starts the firmware. */
u32 poll_start(u32 *start) {
    if (UNLIKELY(SHARED32(start))) {
        OFF_PATH("started");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}
