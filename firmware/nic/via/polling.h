/* What one look of the polling loop costs. */

/* One look at the word that tells that the driver is there. */
u32 look_start(struct shared *shared) {
    u32 kernel = SHARED32(&shared->kernel);
    if (UNLIKELY(kernel != 0)) {
        OFF_PATH("the driver is there");
        return kernel;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the tail of the central send queue. */
u32 look_tail(struct layer *layer, u32 seen) {
    if (UNLIKELY(SHARED32(&layer->shared->send_tail) != seen)) {
        OFF_PATH("something is posted");
        return 1;
    }
    return 0;
}

/* One look at the tail of the command ring; the last step of the loop. */
u32 look_command(struct layer *layer, u32 seen) {
    if (UNLIKELY(SHARED32(&layer->shared->command_tail) != seen)) {
        OFF_PATH("a command");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the count of refills. */
u32 look_refill(struct shared *shared, u32 seen) {
    if (UNLIKELY(SHARED32(&shared->refills) != seen)) {
        OFF_PATH("refilled");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}
