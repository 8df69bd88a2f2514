/* Costs of samples in the polling loop. */

/* Sample the word that is set when the driver is ready. */
u32 look_start(struct shared *shared) {
    u32 kernel = SHARED32(&shared->kernel);
    if (UNLIKELY(kernel != 0)) {
        OFF_PATH("the driver is there");
        return kernel;
    }
    LOOP_AGAIN();
    return 0;
}

/* Sample the tails of the central send queue and of the command ring, and return the latter. */
u32 look_tail(struct layer *layer) {
    u64_words tails = SHARED64(&layer->shared->send_tail);
    if (UNLIKELY(tails.word[0] != layer->sends.tail)) {
        OFF_PATH("something is posted");
        layer->sends.tail = tails.word[0];
        return 0;
    }
    return tails.word[1];
}

/* Sample the counter of the kernel's writes: last step for the kernel. */
u32 look_news(struct shared *shared, u32 seen) {
    if (UNLIKELY(SHARED32(&shared->news) != seen)) {
        OFF_PATH("something new");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Test for another count: last step of the loop. */
u32 look_command(u32 tail, u32 seen) {
    if (UNLIKELY(tail != seen)) {
        OFF_PATH("a command");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Sample the count of refills. */
u32 look_refill(struct shared *shared, u32 seen) {
    if (UNLIKELY(SHARED32(&shared->refills) != seen)) {
        OFF_PATH("refilled");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}
