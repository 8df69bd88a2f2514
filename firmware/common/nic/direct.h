/* Transfers of the packet port on a LANai 4, one at a time (lanai4/transfers.py). */

enum { WAY_FETCH = 1, WAY_READ = 3, WAY_DELIVER = 4, WAY_STORE = 6 };

struct request { u32 host, local, size, way; };
struct words { u32 word[2]; struct words *next; };
struct direct {
    u32 way, value, scratch;
    struct request *first, *last, *begin, *end;
    u32 waiting;
    struct words *words;
    struct port port;
};

/* Write the engine's registers. */
static inline __attribute__((always_inline)) void engine(u32 host, u32 local, u32 size, u32 to_nic) {
    REGISTER_WRITE(EAR, host);
    REGISTER_WRITE(LAR, local);
    REGISTER_WRITE(DMA_DIR, to_nic);
    REGISTER_WRITE(DMA_CTR, size);
}

/* Fetch payload into the next slot; the engine is idle. */
void direct_fetch(struct direct *direct, u32 address, u32 size) {
    struct slot *slot = direct->port.slot;
    direct->port.slot = slot->next;
    direct->port.fetched = direct->port.fetched + 1;
    if (UNLIKELY(direct->way)) {
        OFF_PATH("the engine has a transfer");
        return;
    }
    direct->way = WAY_FETCH;
    engine(address, (u32)slot->packet.payload, (size + 3) & ~3u, 1);
}

/* Read words into the scratch area. */
void direct_read(struct direct *direct, u32 address, u32 size) {
    if (UNLIKELY(direct->way)) {
        OFF_PATH("the engine has a transfer");
        return;
    }
    direct->way = WAY_READ;
    engine(address, direct->scratch, size, 1);
}

/* Deliver the next piece of a packet to the host. */
void direct_deliver(struct direct *direct, u32 address, u32 size) {
    struct buffer *buffer = direct->port.current;
    u32 taken = direct->port.taken;
    buffer->pending = buffer->pending + 1;
    direct->port.taken = taken + size;
    if (UNLIKELY(direct->way)) {
        OFF_PATH("the engine has a transfer");
        return;
    }
    direct->way = WAY_DELIVER;
    direct->value = (u32)buffer;
    engine(address, taken, size, 0);
}

/* Store two words to the host. */
void direct_store(struct direct *direct, u32 address, u32 first, u32 second) {
    struct words *words = direct->words;
    words->word[0] = first;
    words->word[1] = second;
    direct->words = words->next;
    direct->port.issued = direct->port.issued + 1;
    if (UNLIKELY(direct->way)) {
        OFF_PATH("the engine has a transfer");
        return;
    }
    direct->way = WAY_STORE;
    engine(address, (u32)words, 8, 0);
}

/* Queue a transfer for the engine. */
void direct_wait(struct direct *direct, u32 host, u32 local, u32 size, u32 way) {
    struct request *one = direct->last, *next = one + 1;
    if (UNLIKELY(next == direct->end)) {
        OFF_PATH("round the queue");
        next = direct->begin;
    }
    direct->last = next;
    direct->waiting = direct->waiting + 1;
    one->host = host;
    one->local = local;
    one->size = size;
    one->way = way;
}

/* End of a transfer: none waits. */
u32 direct_done(struct direct *direct) {
    u32 way = direct->way;
    REGISTER_WRITE(ISR, ISR_DMA);
    if (UNLIKELY(direct->waiting)) {
        OFF_PATH("another one waits");
        return 0;
    }
    direct->way = 0;
    return way;
}

/* End of a read: the firmware continues. */
void direct_was_read(struct direct *direct) {
    REGISTER_WRITE(ISR, ISR_DMA);
    direct->way = 0;
}

/* Check whether the current transfer has ended, before another one is queued. */
u32 direct_look(u32 mask) {
    if (LIKELY(REGISTER_READ(ISR) & mask)) return 1;
    OFF_PATH("it is not");
    return 0;
}

/* End of a transfer: start the next one. */
u32 direct_next(struct direct *direct) {
    struct request *one = direct->first, *next = one + 1;
    u32 way = direct->way, its = one->way, waiting = direct->waiting;
    REGISTER_WRITE(ISR, ISR_DMA);
    if (UNLIKELY(waiting == 0)) {
        OFF_PATH("nothing waits");
        return 0;
    }
    if (UNLIKELY(next == direct->end)) {
        OFF_PATH("round the queue");
        next = direct->begin;
    }
    engine(one->host, one->local, one->size, its & 1);
    direct->way = its;
    direct->waiting = waiting - 1;
    direct->first = next;
    return way;
}

/* End of a fetch. */
u32 direct_fetched(struct direct *direct, u32 *fetched) {
    u32 count = *fetched + 1;
    *fetched = count;
    if (UNLIKELY(direct->port.sending)) {
        OFF_PATH("the packet before has not left");
        return 0;
    }
    return count;
}

/* End of a delivery: the buffer may be free. */
void direct_delivered(struct direct *direct) {
    struct buffer *buffer = (struct buffer *)direct->value;
    u32 pending = buffer->pending - 1;
    buffer->pending = pending;
    if (UNLIKELY(pending == 0 && direct->port.armed == 0)) {
        OFF_PATH("the buffer whose turn it is");
        direct->port.armed = buffer;
    }
}

/* End of a store. */
void direct_stored(struct direct *direct) {
    direct->port.stored = direct->port.stored + 1;
    if (UNLIKELY(direct->port.interrupt)) {
        OFF_PATH("an interrupt waits");
        REGISTER_WRITE(ISR, ISR_HOST_SIG);
    }
}
