/* Cost of each step of EPOS on the host's CPU: one function is one path, by the rules in pymodels/costs/README.md. A
 * path calls the selected protocols at its point-cut by AT_...; protocols that are not selected add no code (hooks.h). */
#include "state.h"
#include "hooks.h"

/* Check the arguments of a message. */
u32 epos_message(struct epos *epos, u32 node, u32 size) {
    u32 message;
    if (UNLIKELY(node >= epos->nodes) || UNLIKELY(size > SLOT)) {
        OFF_PATH("bad argument");
        return 0;
    }
    AT_MESSAGE(epos, node, size);
    message = epos->message[node];
    epos->message[node] = message + 1;
    return message;
}

/* Prepare a frame: its slot of the Send Ring, and its header. */
INLINE u32 framed(struct epos *epos, u32 node, u32 number, u32 size, u32 info) {
    u32 next = epos->next, rung = epos->rung;
    if (UNLIKELY(rung - epos->sent >= FRAMES)) {
        OFF_PATH("the ring is full");
        return 0;
    }
    epos->next = next + 1;
    epos->rung = rung + 1;
    PIO_WRITE(BE32(epos->key | (next & 0xFFFF)));
    PIO_WRITE(BE32(number));
    PIO_WRITE(BE32(info | size));
    AT_FRAME(epos, node);
    return next & FRAMES - 1;
}

/* Send a frame by host stores: header and doorbell. epos_store has the payload. */
void epos_frame(struct epos *epos, u32 node, u32 number, u32 size, u32 info) {
    u32 slot = framed(epos, node, number, size, info);
    PIO_WRITE(BE32(node << 24 | slot << 16 | (size + 4 * HEADER_WORDS)));
    AT_SENT(epos, node);
}

/* Send a frame whose payload the card fetches: header, control block, doorbell. */
void epos_frame_dma(struct epos *epos, u32 node, u32 number, u32 size, u32 info, u32 address) {
    u32 slot = framed(epos, node, number, size, info), block = epos->block, next = block + 24;
    if (UNLIKELY(next == epos->blocks_end)) {
        OFF_PATH("round the ring");
        next = epos->blocks;
    }
    epos->block = next;
    PIO_WRITE(0);
    PIO_WRITE(BE32(size));
    PIO_WRITE(BE32(epos->slots[slot] + 4 * HEADER_WORDS));
    PIO_WRITE(0);
    PIO_WRITE(BE32(address));
    PIO_WRITE(BE32(next | 5));
    PIO_WRITE(BE32(node << 24 | 1u << 23 | slot << 16 | (size + 4 * HEADER_WORDS)));
    AT_SENT(epos, node);
}

/* Start the chain from the host; only with activate=host. */
void epos_activate(void) { PIO_WRITE(BE32(4)); }

/* Send a greeting with this host's composition, and its doorbell. */
void epos_greet(struct epos *epos, u32 node) {
    u32 next = epos->next, rung = epos->rung;
    if (UNLIKELY(rung - epos->sent >= FRAMES)) {
        OFF_PATH("the ring is full");
        return;
    }
    epos->next = next + 1;
    epos->rung = rung + 1;
    PIO_WRITE(BE32((epos->key ^ 0xE000000) | (next & 0xFFFF)));
    PIO_WRITE(BE32(COMPOSITION << 24));
    PIO_WRITE(0);
    PIO_WRITE(BE32(node << 24 | (next & FRAMES - 1) << 16 | 4 * HEADER_WORDS));
}

/* Process another host's greeting: compare its composition. */
u32 epos_greeted(struct epos *epos, u32 entry) {
    u32 next = epos->entry + 4;
    if (UNLIKELY(next == epos->entries_end)) {
        OFF_PATH("round the queue");
        next = epos->entries;
    }
    epos->entry = next;
    return (entry >> 16 & 0xFF) ^ COMPOSITION;
}

/* Write 32 bytes of payload to the bus. */
const u32 *epos_store(const u32 *from, const u32 *end) {
    PIO_WRITE(from[0]);
    PIO_WRITE(from[1]);
    PIO_WRITE(from[2]);
    PIO_WRITE(from[3]);
    PIO_WRITE(from[4]);
    PIO_WRITE(from[5]);
    PIO_WRITE(from[6]);
    PIO_WRITE(from[7]);
    if (UNLIKELY(from + 8 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return from + 8;
}

/* Read the number of completed doorbells over the bus; only if the known count leaves no room in the ring. */
u32 epos_look_sent(struct epos *epos, u32 before) {
    u32 sent = BE32(PIO_READ());
    epos->sent = sent;
    return look_turn(sent, before);
}

/* Read the next entry of the Rx FIFO Queue over the bus. */
u32 epos_look(u32 lap) {
    u32 entry = BE32(PIO_READ());
    if (UNLIKELY((entry ^ lap) >> 31)) {
        OFF_PATH("a frame");
        return entry;
    }
    LOOP_AGAIN();
    return 0;
}

/* Read the next entry of a queue in host memory. */
u32 epos_look_here(const u32 *entry, u32 before) { return look_turn(SHARED32(entry), before); }

/* Process a frame: its source, the bytes received of its message, the next entry. */
u32 epos_take(struct epos *epos, u32 entry, struct came *came) {
    u32 source = entry >> 24 & 63, next = epos->entry + 4, size = entry & 0xFFFF;
    if (UNLIKELY(size >= GREETING)) {
        OFF_PATH("frames of it are lost, or no message");
        return 0;
    }
    size += epos->came[source];
    if (UNLIKELY(next == epos->entries_end)) {
        OFF_PATH("round the queue");
        next = epos->entries;
    }
    epos->entry = next;
    if (UNLIKELY(!(entry & 1u << 30))) {
        OFF_PATH("more of it comes");
        epos->came[source] = size;
        return 0;
    }
    epos->came[source] = 0;
    came->source = source;
    came->communicator = entry >> 16 & 0xFF;
    AT_ASSEMBLED(epos, size);
    came->size = size;
    came->at = epos->staging + ((source << SLOTS_SHIFT | (epos->taken[source] & SLOTS - 1)) << SLOT_SHIFT);
    return size;
}

/* Process a frame that is not the last of its message. */
void epos_take_part(struct epos *epos, u32 entry) {
    u32 source = entry >> 24 & 63, size = entry & 0xFFFF;
    if (UNLIKELY(size >= GREETING)) {
        OFF_PATH("frames of it are lost, or no message");
        return;
    }
    epos->entry = epos->entry + 4;
    epos->came[source] = epos->came[source] + size;
}

/* Discard an incomplete message. */
void epos_incomplete(struct epos *epos, u32 source) {
    epos->entry = epos->entry + 4;
    epos->came[source] = 0;
    epos->given_up = epos->given_up + 1;
}

/* Copy 32 bytes of a message from its staging slot. */
u32 *epos_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Count a copied message; every second slot is reported to the NIC. */
u32 epos_copied(struct epos *epos, u32 source) {
    u32 taken = epos->taken[source] + 1;
    epos->taken[source] = taken;
    AT_COPIED(epos, source, taken);
    return taken - epos->returned[source];
}

/* Publish the number of copied messages to the NIC. */
void epos_free(struct epos *epos, u32 source) {
    u32 taken = epos->taken[source];
    epos->returned[source] = taken;
    PIO_WRITE(BE32(taken));
}

/* Check that a message still occupies its slot; only with staging=overwrite. */
u32 epos_check(const u32 *mark, u32 message) {
    if (UNLIKELY(be32_load(mark) != message)) {
        OFF_PATH("it is overwritten");
        return 0;
    }
    return 1;
}

/* ---- families: additional cost of each member */

/* Append a message to the queue of its communicator. */
void epos_dispatch(struct epos *epos, struct came **queues, struct came *came) {
    struct came **at = &queues[came->communicator], *before = *at;
    if (UNLIKELY(!before)) {
        OFF_PATH("nobody has opened it");
        epos->given_up = 0;
        return;
    }
    came->at = before->at;
    *at = came;
}

/* Link: take a message from the peer. */
u32 epos_link_take(u32 peer, const struct came *came) {
    if (UNLIKELY(came->source != peer)) {
        OFF_PATH("of another");
        return 0;
    }
    return 1;
}

/* Port: write its number before the payload. */
void epos_port_header(u32 *data, u32 number) { data[-1] = BE32(number); }

/* Port: read the sender's number, and skip the header. */
u32 *epos_port_take(u32 *data, u32 *number) {
    *number = be32_load(data);
    return data + 1;
}

/* Stream: send a part of the bytes as a message. */
u32 epos_stream_part(u32 at, u32 size, u32 most) {
    if (UNLIKELY(size - at <= most)) {
        OFF_PATH("the last part");
        return size;
    }
    LOOP_AGAIN();
    return at + most;
}

/* Stream: read the next received bytes. */
u32 epos_stream_read(struct came *came, u32 most) {
    u32 size = came->size;
    if (UNLIKELY(size > most)) {
        OFF_PATH("some are left");
        size = most;
    }
    came->at += size;
    came->size -= size;
    return size;
}
