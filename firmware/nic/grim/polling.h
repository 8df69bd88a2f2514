/* Paths of the polling loops: one look that finds nothing. */
/* One look at ISR for a packet. */
u32 poll_receive(void) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & 2)) {
        OFF_PATH("a packet");
        return 1;
    }
    return 0;
}

/* Another flag of the same sample. */
u32 poll_flag(u32 isr, u32 mask) {
    if (UNLIKELY(isr & mask)) {
        OFF_PATH("an event");
        return 1;
    }
    return 0;
}

/* One look at the word that the first part of a long message changes. */
u32 poll_arrival(u32 *word, u32 expected) {
    if (UNLIKELY(SHARED32(word) != expected)) {
        OFF_PATH("the first part has arrived");
        return 1;
    }
    return 0;
}

/* One look at the number of streams that may send again. */
u32 poll_resend(struct ni *ni) {
    if (UNLIKELY(ni->ready_count)) {
        OFF_PATH("a stream is ready");
        return 1;
    }
    return 0;
}

/* With doorbells: one look at the number of channels with news. */
u32 poll_news(struct ni *ni) {
    if (UNLIKELY(ni->news_count)) {
        OFF_PATH("a channel has news");
        return 1;
    }
    return 0;
}

/* One step of the search of the channels (Figure 4.10). */
struct channel *poll_channel(struct channel *channel) {
    if (UNLIKELY(SHARED32(&channel->back) != channel->next)) {
        OFF_PATH("a new message");
        return 0;
    }
    LOOP_AGAIN();
    return channel + 1;
}

/* One look at the word by which the host starts the firmware. */
u32 poll_start(u32 *start) {
    if (UNLIKELY(SHARED32(start))) {
        OFF_PATH("started");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}
