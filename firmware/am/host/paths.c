/* Cost of each step of AM on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "turns.h"

enum { SLOTS = 4, MOST = 4096, NODES = 64 };

struct am {
    u32 memory, image, sent, entries, taken, process, unused[2];
    u32 free[NODES][2];
};
struct call { u32 kind, slot, count, size, source, payload, replied; const u32 *arguments; };

/* Check the arguments of a message, choose its send buffer, store its descriptor over the bus. */
u32 am_send(struct am *am, u32 handler, u32 node_kind_slot, const u32 *arguments, u32 count, u32 size, u32 address) {
    u32 sent = am->sent, next = sent + 1, node = node_kind_slot >> 3;
    if (UNLIKELY(node >= NODES || count > 5 || size > MOST)) {
        OFF_PATH("bad argument");
        return 0;
    }
    if (UNLIKELY(next == am->entries)) {
        OFF_PATH("round the ring");
        next = 0;
    }
    am->sent = next;
    if (LIKELY(address == 0)) address = am->memory + (node_kind_slot << 12);
    PIO_WRITE(BE32(address));
    PIO_WRITE(BE32(node << 24 | am->image));
    PIO_WRITE(BE32(handler));
    PIO_WRITE(BE32(arguments[0]));
    PIO_WRITE(BE32(arguments[1]));
    PIO_WRITE(BE32(arguments[2]));
    PIO_WRITE(BE32(arguments[3]));
    PIO_WRITE(BE32(arguments[4]));
    PIO_WRITE(BE32(1u << 31 | (node_kind_slot & 7) << 28 | count << 25 | size));
    return address;
}

/* Copy 32 bytes of payload. */
u32 *am_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Poll the valid word of the next receive-queue entry once. */
u32 am_look(const u32 *there) {
    if (UNLIKELY(SHARED32(there) != 0)) {
        OFF_PATH("a message");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Decode the next message: source, handler, arguments. A reply frees the request slot. */
u32 am_receive(struct am *am, u32 *entry, struct call *call) {
    u32 word = be32_load(entry + 7), source = be32_load(entry + 8) >> 24, taken = am->taken + 1, slot = word >> 28 & 7;
    if (UNLIKELY((be32_load(entry) & 0xFFFFFF) != am->image)) {
        OFF_PATH("another program's");
        return 0;
    }
    if (UNLIKELY(taken == am->entries)) {
        OFF_PATH("round the queue");
        taken = 0;
    }
    am->taken = taken;
    call->slot = slot;
    call->count = word >> 25 & 7;
    call->size = word & 0x1FFF;
    call->source = source;
    call->payload = am->memory + ((am->entries + (source << 3) + slot) << 12);
    call->arguments = entry + 2;
    call->replied = 0;
    am->free[source][0] = am->free[source][0] + 1;
    SHARED32(entry + 9) = 0;
    return be32_load(entry + 1);
}

/* Enable the interrupt for the next message. */
u32 am_ask(void) {
    PIO_WRITE(BE32(1));
    return PIO_READ();
}

/* Disable the interrupt at the end of a computation. */
void am_unask(void) { PIO_WRITE(0); }

/* Interrupt routine: acknowledge, read back, signal the process. */
u32 am_serve(struct am *am) {
    PIO_WRITE(BE32(1u << 30));
    am->unused[0] = PIO_READ();
    return am->process;
}

/* Increment the flag of a PUT or GET. */
void am_flag(u32 *flag) { SHARED32(flag) = SHARED32(flag) + 1; }
