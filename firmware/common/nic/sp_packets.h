/* Costs of the packet port on the processor of the SP adapter (sp/packets.py). Registers are uncached, and registers aligned to
 * 8 bytes are accessed in pairs; the port's own words are cached. */
#ifdef __powerpc__

struct sp_port {
    u32 seen, entries, held, going, sending, stored, me, route;
    u32 *fetched, *kinds, *kinds_end, *kinds_begin;
    u64_words routes[128];
    struct { u32 source, first, second, size, good; } head;
};

enum { FETCH = 1u << 28, PACKET = 1u << 29, READ_WORDS = 1u << 30, ALARM = 1u << 31, ARRIVED = 1, ROOM = 4, READ_DONE = 0x80, BELL = 0x10 };
enum { LOOKED_AT = 0xFFFFFF01, USER = 0xFFF, BAD = 3 << 16, VIA_BYTES = 8 };

/* Sample STATUS without a change. */
u32 sp_look(struct sp_port *port) {
    if (UNLIKELY((REGISTER_SAMPLE(STATUS) ^ port->seen) & LOOKED_AT)) {
        OFF_PATH("something has happened");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Wait for room in the command queue. */
void sp_room(void) {
    if (UNLIKELY(REGISTER_SAMPLE(STATUS) & ROOM)) {
        OFF_PATH("there is room");
        return;
    }
    LOOP_AGAIN();
}

/* Wait for words of host memory. */
void sp_read_look(void) {
    if (UNLIKELY(REGISTER_SAMPLE(STATUS) & READ_DONE)) {
        OFF_PATH("they are here");
        return;
    }
    LOOP_AGAIN();
}

/* Handle a change of STATUS: counters and a received packet. One event has happened. */
u32 sp_happened(struct sp_port *port, u32 status) {
    u32 changed = status ^ port->seen;
    port->seen = status & ~ARRIVED;
    if (LIKELY(status & ROOM)) port->entries = 12;
    if (UNLIKELY(changed & 0xFF000000)) {
        OFF_PATH("sent");
        port->held -= port->going;
        port->sending = 0;
    }
    if (UNLIKELY(changed & 0x00FF0000)) {
        OFF_PATH("stored");
        port->stored += *port->kinds++;
    }
    if (UNLIKELY(changed & 0x0000FF00)) {
        OFF_PATH("fetched");
        return 2;
    }
    return status & ARRIVED;
}

/* Insert a command. */
static inline void order(struct sp_port *port, u32 first, u32 address, u32 entries) {
    u32 left = port->entries - entries;
    if (UNLIKELY((int)left < 0)) {
        OFF_PATH("the queue may be full");
        left = 0;
    }
    port->entries = left;
    REGISTER_WRITE64(COMMAND_HIGH, first, address);
}

/* Fetch payload by the left engine. */
void sp_fetch(struct sp_port *port, u32 address, u32 size) {
    *port->fetched++ = size;
    port->held += (size + 7) & ~7u;
    order(port, FETCH | size, address, 1);
}

/* Write another route than that of the last packet: node, and above it the index of the route. */
void sp_route(struct sp_port *port, u32 route) {
    u64_words words = port->routes[route];
    port->route = route;
    REGISTER_WRITE64(SEND0, words.word[0], words.word[1]);
}

/* Write the headers of a packet, and start it. */
void sp_launch(struct sp_port *port, u32 node, u32 first, u32 second, u32 size) {
    port->sending = 1;
    port->going = (size + 7) & ~7u;
    if (UNLIKELY(node != port->route)) {
        OFF_PATH("another route");
        return;
    }
    REGISTER_WRITE64(SEND2, port->me | (size + VIA_BYTES), node << 16);
    REGISTER_WRITE64(SEND4, first, second);
    REGISTER_WRITE(SEND_START, size);
}

/* Write two words of payload from the processor. */
u32 *sp_launch_words(u32 *from) {
    REGISTER_WRITE64(OWN0, from[0], from[1]);
    LOOP_AGAIN();
    return from + 2;
}

/* Read the headers of the packet at the head. The VIA header names its source as well. */
u32 sp_head(struct sp_port *port) {
    u32 status = REGISTER_READ(RECV_STATUS), size = status & USER;
    u64_words header = REGISTER_READ64(RECV4);
    port->head.first = header.word[0];
    port->head.second = header.word[1];
    port->head.source = header.word[0] >> 24;
    port->head.size = size;
    if (UNLIKELY(status & BAD)) {
        OFF_PATH("a bad packet");
        return 0;
    }
    return size;
}

/* Read the first payload. */
u32 sp_inline(u32 *to) {
    u64_words payload = REGISTER_READ64(RECV6);
    to[0] = payload.word[0];
    to[1] = payload.word[1];
    return to[0];
}

/* Deliver the next piece of the packet to the host. */
void sp_deliver(struct sp_port *port, u32 address, u32 size) {
    *port->kinds_end++ = 0;
    order(port, PACKET | size, address, 1);
}

/* Release the packet. */
void sp_drop(struct sp_port *port) {
    port->entries--;
    REGISTER_WRITE(RECV_NEXT, 0);
}

/* Insert a command that stores words to the host. */
void sp_store(struct sp_port *port, u32 address, u32 bytes) {
    *port->kinds_end++ = 1;
    order(port, bytes, address, 3);
}

/* Write two words for the command. */
u32 *sp_store_words(u32 *from) {
    REGISTER_WRITE64(DATA_HIGH, from[0], from[1]);
    LOOP_AGAIN();
    return from + 2;
}

/* Interrupt the host after all stores. */
void sp_interrupt(struct sp_port *port) { order(port, ALARM, 0, 1); }

/* Insert a command that reads words of host memory. */
void sp_read(struct sp_port *port, u32 address, u32 bytes) { order(port, READ_WORDS | FETCH | bytes, address, 1); }

/* Read two of the words. */
u32 *sp_read_words(u32 *to) {
    u64_words words = REGISTER_READ64(READ0);
    to[0] = words.word[0];
    to[1] = words.word[1];
    LOOP_AGAIN();
    return to + 2;
}

/* ---- doorbells (bells.py) */

/* Test for an entry, in the STATUS word sampled before. */
u32 sp_bell_look(u32 status) {
    if (UNLIKELY(status & BELL)) {
        OFF_PATH("an entry");
        return 1;
    }
    return 0;
}

/* Read the next entry: page and word. */
u32 sp_bell_entry(const u32 *fifo, u32 *consumer, u32 *value) {
    u32 count = *consumer;
    u64_words entry = SHARED64(&fifo[2 * (count & 511)]);
    *value = entry.word[1];
    count = count + 1 & 0x1FFFF;
    *consumer = count;
    REGISTER_WRITE(BELL_CONSUMER, count);
    return entry.word[0] - 0x808000;
}
#endif
