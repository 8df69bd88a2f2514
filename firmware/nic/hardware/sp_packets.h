/* What the packet port of the SP adapter costs its processor (sp_packets.py). Registers are uncached, the port's own words
 * are cached. */
#ifdef __powerpc__

struct sp_port {
    u32 seen, entries, held, going, sending, stored, me;
    u32 *fetched, *kinds, *kinds_end, *kinds_begin;
    struct { u32 first, second; } routes[128];
    struct { u32 source, first, second, size, good; } head;
};

enum { FETCH = 1u << 28, PACKET = 1u << 29, READ_WORDS = 1u << 30, ALARM = 1u << 31, ARRIVED = 1, ROOM = 4, READ_DONE = 0x80 };
enum { LOOKED_AT = 0xFFFFFF01, USER = 0xFFF, BAD = 3 << 16, VIA_BYTES = 8 };

/* Look at STATUS: nothing has happened. */
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

/* STATUS differs: which of its counters have gone on, and whether a packet is there. One thing has happened. */
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
    REGISTER_WRITE(COMMAND_HIGH, first);
    REGISTER_WRITE(COMMAND_LOW, address);
}

/* Have the left engine bring payload. */
void sp_fetch(struct sp_port *port, u32 address, u32 size) {
    *port->fetched++ = size;
    port->held += (size + 7) & ~7u;
    order(port, FETCH | size, address, 1);
}

/* Headers of a packet, and go. */
void sp_launch(struct sp_port *port, u32 node, u32 first, u32 second, u32 size) {
    port->sending = 1;
    port->going = (size + 7) & ~7u;
    REGISTER_WRITE(SEND0, port->routes[node].first);
    REGISTER_WRITE(SEND1, port->routes[node].second);
    REGISTER_WRITE(SEND2, port->me | (size + VIA_BYTES));
    REGISTER_WRITE(SEND3, node << 16);
    REGISTER_WRITE(SEND4, first);
    REGISTER_WRITE(SEND5, second);
    REGISTER_WRITE(SEND_START, size);
}

/* A word of payload that the processor has. */
u32 *sp_launch_word(u32 *from) {
    REGISTER_WRITE(OWN0, *from);
    LOOP_AGAIN();
    return from + 1;
}

/* A packet is at the head: what its headers say. */
u32 sp_head(struct sp_port *port) {
    u32 status = REGISTER_READ(RECV_STATUS), length = REGISTER_READ(RECV2), size = status & USER;
    port->head.first = REGISTER_READ(RECV4);
    port->head.second = REGISTER_READ(RECV5);
    port->head.source = length >> 16;
    port->head.size = size;
    if (UNLIKELY(status & BAD)) {
        OFF_PATH("a bad packet");
        return 0;
    }
    return size;
}

/* Its first payload. */
u32 sp_inline(u32 *to) {
    to[0] = REGISTER_READ(RECV6);
    to[1] = REGISTER_READ(RECV7);
    return to[0];
}

/* The next piece of the packet to the host. */
void sp_deliver(struct sp_port *port, u32 address, u32 size) {
    *port->kinds_end++ = 0;
    order(port, PACKET | size, address, 1);
}

/* No more of the packet is wanted. */
void sp_drop(struct sp_port *port) {
    port->entries--;
    REGISTER_WRITE(RECV_NEXT, 0);
}

/* A command for words to the host. */
void sp_store(struct sp_port *port, u32 address, u32 bytes) {
    *port->kinds_end++ = 1;
    order(port, bytes, address, 3);
}

/* A word for it. */
u32 *sp_store_word(u32 *from) {
    REGISTER_WRITE(DATA_LOW, *from);
    LOOP_AGAIN();
    return from + 1;
}

/* Interrupt the host behind all stores. */
void sp_interrupt(struct sp_port *port) { order(port, ALARM, 0, 1); }

/* Have words of host memory brought. */
void sp_read(struct sp_port *port, u32 address, u32 bytes) { order(port, READ_WORDS | FETCH | bytes, address, 1); }

/* One of them. */
u32 *sp_read_word(u32 *to) {
    *to = REGISTER_READ(READ0);
    LOOP_AGAIN();
    return to + 1;
}
#endif
