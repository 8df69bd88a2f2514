/* Rings of the queue caches. */

static inline __attribute__((always_inline)) u32 take(struct ring *ring) {
    u32 at = ring->at;
    ring->at = at + 1;
    return SHARED32(&ring->base[at & ring->mask]);
}

/* State of a VI, if the generation is unchanged. */
static inline __attribute__((always_inline)) u32 state_of(struct endpoint *endpoint) {
    u32 word = SHARED32(&endpoint->words->state);
    if (UNLIKELY(word >> 8 != endpoint->generation)) {
        OFF_PATH("a new generation");
        endpoint->generation = word >> 8;
        endpoint->sequence = 0;
    }
    return word & 0xFF;
}
