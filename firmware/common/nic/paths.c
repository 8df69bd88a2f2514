/* Costs of shared steps on the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"
#include "chains.h"
#include "sp_packets.h"

/* ---- packets (lanai_packets.py) */

enum { SLOTS = 4, BUFFERS = 4, FETCHES = 8, STORES = 32, ISR_HEAD_RECV = 3, ISR_SEND = 8, ISR_HOST_SIG = 1u << 30, ISR_ORUN = 7 << 8, RING_WAKE = 4 };

struct ring { struct block *tail, *done, *first, *end; };
struct entry { u32 kind, value; };
struct route { u32 high, low, skip, unused; };
struct packet { u32 route_high, route_low, header_first, header_second, payload[2]; };
struct slot { struct slot *next; u32 begin, skip; struct packet packet; };
struct buffer { u32 pending; struct buffer *next; u32 *words, *end; };
struct port {
    struct ring out, in;
    u32 fetched, sending, issued, stored, interrupt, taken, most;
    struct slot *slot, *first;
    struct packet *direct;
    struct buffer *armed, *current;
    struct entry entries[STORES], *entry;
    struct route routes[128];
};

/* Sample a bit of ISR. */
u32 packet_look(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("an engine is done");
        return 1;
    }
    return 0;
}

/* Test one engine's bits, which are not set. */
u32 packet_which(u32 flags, u32 mask) {
    if (UNLIKELY(flags & mask)) {
        OFF_PATH("this one");
        return 1;
    }
    return flags;
}

/* Append a block to a chain, and start the chain. */
static inline void append(struct ring *ring, u32 local, u32 host, u32 size, u32 flags, u32 chain) {
    struct block *block = ring->tail, *next = block + 1;
    if (UNLIKELY(next == ring->end)) {
        OFF_PATH("round the ring");
        next = ring->first;
    }
    if (UNLIKELY(next == ring->done)) {
        OFF_PATH("the ring is full");
        return;
    }
    ring->tail = next;
    block->len = size;
    block->lar = local;
    block->eah = 0;
    block->eal = host;
    SHARED32(&block->next) = (u32)next | flags;
    REGISTER_WRITE(PULSE, 1u << chain);
}

/* Fetch payload from the host into the next slot. */
void packet_fetch(struct port *port, u32 address, u32 size) {
    struct slot *slot = port->slot;
    port->slot = slot->next;
    port->fetched = port->fetched + 1;
    append(&port->out, (u32)slot->packet.payload, address, size, RING_WAKE | 1, 2);
}

/* Write route and header before a payload, and start the send engine. */
static inline void launch(struct port *port, struct packet *packet, u32 node, u32 first, u32 second, u32 size) {
    struct route *route = &port->routes[node];
    packet->route_high = route->high;
    packet->route_low = route->low;
    packet->header_first = first;
    packet->header_second = second;
    port->sending = 1;
    REGISTER_WRITE(SMP, packet);
    REGISTER_WRITE(SA, route->skip);
    REGISTER_WRITE(SMLT, (u32)packet->payload + ((size + 7) & ~7u));
}

/* Launch a packet whose payload was fetched. */
void packet_launch(struct port *port, u32 node, u32 first, u32 second, u32 size) {
    struct slot *slot = port->first;
    port->first = slot->next;
    port->fetched = port->fetched - 1;
    launch(port, &slot->packet, node, first, second, size);
}

/* Write route and header of a packet whose payload is being fetched. */
void packet_prepare(struct slot *slot, struct route *route, u32 first, u32 second) {
    slot->packet.route_high = route->high;
    slot->packet.route_low = route->low;
    slot->packet.header_first = first;
    slot->packet.header_second = second;
    slot->skip = route->skip;
}

/* Launch a prepared packet. */
void packet_go(struct port *port, u32 size) {
    struct slot *slot = port->first;
    port->first = slot->next;
    port->fetched = port->fetched - 1;
    port->sending = 1;
    REGISTER_WRITE(SMP, &slot->packet);
    REGISTER_WRITE(SA, slot->skip);
    REGISTER_WRITE(SMLT, (u32)slot->packet.payload + ((size + 7) & ~7u));
}

/* Launch a packet whose payload is two words of the firmware. */
void packet_launch_inline(struct port *port, u32 node, u32 first, u32 second, u32 size, u32 *words) {
    struct packet *packet = port->direct;
    packet->payload[0] = words[0];
    packet->payload[1] = words[1];
    launch(port, packet, node, first, second, size);
}

/* Copy a further word of an inline message. */
void packet_launch_word(struct packet *packet, u32 at, u32 *words) {
    packet->payload[at] = words[at];
}

/* Discard the oldest fetch. */
void packet_discard(struct port *port) {
    struct slot *slot = port->first;
    port->first = slot->next;
    port->fetched = port->fetched - 1;
}

/* Handle a received packet: find its end, check its syndrome, arm the next buffer. */
u32 packet_head(struct port *port) {
    struct buffer *buffer = port->armed, *next = buffer->next;
    u32 end, size, padding, *words, *behind;
    REGISTER_WRITE(ISR, ISR_HEAD_RECV);
    end = REGISTER_READ(RMP);
    if (UNLIKELY(next->pending)) {
        OFF_PATH("no buffer is free");
        next = 0;
    }
    port->armed = next;
    REGISTER_WRITE(RMP, next->words);
    REGISTER_WRITE(RML, next->end);
    port->current = buffer;
    buffer->pending = 1;
    words = buffer->words;
    port->taken = (u32)words + 8;
    behind = (u32 *)(end - 8);
    size = end - 16 - (u32)words;
    padding = size - (SHARED32(&words[1]) >> 29) & 7;
    if (UNLIKELY(size > port->most + 7) || UNLIKELY(SHARED32(behind) >> 24)) {
        OFF_PATH("a bad packet");
        return 0;
    }
    return size - padding;
}

/* Check for whole words, so that CRC-8 is alone in the last one. */
u32 packet_exact(void) {
    if (UNLIKELY(~REGISTER_READ(ISR) & ISR_ORUN)) {
        OFF_PATH("characters too many");
        return 0;
    }
    return 1;
}

/* Deliver the next piece of the packet to the host. */
void packet_deliver(struct port *port, u32 address, u32 size) {
    u32 taken = port->taken;
    struct entry *entry = port->entry;
    port->entry = entry + 1;
    entry->kind = 0;
    entry->value = (u32)port->current;
    port->current->pending = port->current->pending + 1;
    port->taken = taken + size;
    append(&port->in, taken, address, size, RING_WAKE, 0);
}

/* Release the packet's buffer. */
void packet_drop(struct port *port) {
    struct buffer *buffer = port->current;
    u32 pending = buffer->pending - 1;
    buffer->pending = pending;
    if (UNLIKELY(pending == 0 && port->armed == 0)) {
        OFF_PATH("the only free buffer");
        port->armed = buffer;
    }
}

/* Store words to the host. */
void packet_store(struct port *port, u32 address, u32 *words, u32 *from) {
    struct entry *entry = port->entry;
    port->entry = entry + 1;
    from[0] = words[0];
    from[1] = words[1];
    entry->kind = 1;
    port->issued = port->issued + 1;
    append(&port->in, (u32)from, address, 8, RING_WAKE, 0);
}

/* Interrupt the host after the last store. */
void packet_interrupt(struct port *port) {
    port->interrupt = 1;
    if (LIKELY(port->stored == port->issued)) {
        port->interrupt = 0;
        REGISTER_WRITE(ISR, ISR_HOST_SIG);
    }
}

/* Read words of host memory into the scratch area. */
void packet_read(struct port *port, u32 scratch, u32 address, u32 size) {
    port->entries[0].kind = 2;
    append(&port->out, scratch, address, size, RING_WAKE | 1, 2);
}

/* Handle finished blocks: one of data and one of words. */
void packet_done(struct port *port) {
    struct block *block = port->in.done;
    struct buffer *buffer;
    u32 pending;
    REGISTER_WRITE(ISR, 1u << 4);
    if (UNLIKELY(!(SHARED32(&block->next) & TERMINAL))) {
        OFF_PATH("not yet done");
        return;
    }
    block++;
    buffer = (struct buffer *)port->entry->value;
    pending = buffer->pending - 1;
    buffer->pending = pending;
    if (UNLIKELY(pending != 0 && port->armed == 0)) {
        OFF_PATH("a buffer is free");
        return;
    }
    if (LIKELY(SHARED32(&block->next) & TERMINAL)) {
        port->stored = port->stored + 1;
        block++;
    }
    port->in.done = block;
    if (UNLIKELY(port->interrupt)) {
        OFF_PATH("an interrupt waits");
        REGISTER_WRITE(ISR, ISR_HOST_SIG);
    }
}

#include "direct.h"

/* ---- doorbells (bells.py) */

/* Read an entry of the doorbell FIFO: page and word. */
u32 bell_entry(const u32 *fifo, u32 *consumer, u32 *value) {
    u32 count = *consumer, at = 2 * (count & 511), offset = SHARED32(&fifo[at]);
    *value = SHARED32(&fifo[at + 1]);
    count = count + 1 & 0x1FFFF;
    *consumer = count;
    REGISTER_WRITE(DOORBELL_CONSUMER0, count);
    return offset - 0x808000;
}
