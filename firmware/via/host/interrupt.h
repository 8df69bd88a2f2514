/* Kernel: interrupt routine, refills, commands. */

/* Serve an interrupt: check that it is from this card, and for an event, a message, a sleeper with a complete descriptor. */
u32 serve_interrupt(struct kernel *kernel, struct vi *vi, u32 *message) {
    u32 *sleeper = (u32 *)vi->sleepers;
    kernel->interrupts = kernel->interrupts + 1;
    PIO_WRITE(BE32(1u << 30));
    if (UNLIKELY(SHARED32(&kernel->events[kernel->event]) != 0)) {
        OFF_PATH("an event");
        return 1;
    }
    if (UNLIKELY(SHARED32(message) != 0)) {
        OFF_PATH("a message");
        return 2;
    }
    if (UNLIKELY(kernel->sends.waiting)) {
        OFF_PATH("the send queue");
        return 3;
    }
    if (LIKELY(SHARED32(&((struct descriptor *)sleeper[2])->status) != 0)) vi->sleepers = sleeper[0];
    return sleeper[1];
}

/* Read a word of the event ring. */
u32 read_event(struct kernel *kernel) {
    u32 event = kernel->event, word = be32_load(&kernel->events[event]);
    struct vi *vi = &kernel->vis[word >> 16 & 0x7F];
    kernel->events[event] = 0;
    kernel->event = event + 1 & 0xFF;
    vi->state = ERROR;
    return word;
}

/* Refill a queue cache: write each waiting descriptor, and the flag. */
u32 refill_cache(struct cache *cache, struct posted *posted) {
    u32 head = PIO_READ(), tail;
    take_lock(&cache->lock);
    tail = cache->tail;
    cache->head = head;
    if (UNLIKELY(tail - head > cache->size - 5)) {
        OFF_PATH("no room");
        return 0;
    }
    posted->end = tail + 5;
    cache->tail = tail + 5;
    cache->waiting = cache->waiting - 1;
    PIO_WRITE(posted->region);
    PIO_WRITE(tail + 5);
    give_lock(&cache->lock);
    return cache->waiting;
}

/* Write a word into the command ring. */
void give_command(struct cache *cache, u32 word) {
    u32 tail;
    take_lock(&cache->lock);
    tail = cache->tail;
    cache->tail = tail + 1;
    PIO_WRITE(BE32(word));
    PIO_WRITE(BE32(tail + 1));
    give_lock(&cache->lock);
}
