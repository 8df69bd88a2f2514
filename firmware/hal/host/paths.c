/* Cost of each step of HAL on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "turns.h"

enum { BUFFERS = 64, MOST = 1024, NODES = 128 };

struct handler { u32 call, argument; };
struct order { u32 word, kept; };
struct hal {
    u32 memory, me, ordered, read, taken, asked, waiting, busy, on, interrupts, sends, keep;
    u32 free_begin, free_end;
    u8 free[BUFFERS];
    struct order orders[BUFFERS];
    struct { u32 ways, turn; } nodes[NODES];
    struct handler handlers[8];
};

/* Check the arguments of a packet, choose a free buffer and the next route, store the order. */
u32 hal_send(struct hal *hal, u32 node, u32 protocol, u32 header, u32 size, u32 keep) {
    u32 bytes = header + size, begin = hal->free_begin, buffer, turn, word, place = hal->ordered;
    struct order *order = &hal->orders[place & (BUFFERS - 1)];
    if (UNLIKELY(node >= NODES || protocol >= 8 || bytes - 1 >= MOST || hal->nodes[node].ways == 0)) {
        OFF_PATH("bad argument");
        return 0;
    }
    if (UNLIKELY(begin == hal->free_end)) {
        OFF_PATH("no buffer is known to be free");
        return 0;
    }
    buffer = hal->free[begin & (BUFFERS - 1)];
    hal->free_begin = begin + 1;
    turn = hal->nodes[node].turn;
    hal->nodes[node].turn = LIKELY(turn + 1 != hal->nodes[node].ways) ? turn + 1 : 0;
    hal->sends = hal->sends + 1;
    hal->ordered = place + 1;
    word = 1u << 31 | (bytes - 1) << 20 | protocol << 17 | turn << 13 | node << 6 | buffer;
    order->word = word;
    order->kept = keep;
    PIO_WRITE(BE32(word));
    return hal->memory + buffer * MOST;
}

/* Copy 16 bytes of the protocol's header. */
u32 *hal_header(u32 *to, const u32 *from, const u32 *end) {
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
    if (UNLIKELY(from + 4 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return to + 4;
}

/* Copy 32 bytes of data. */
u32 *hal_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Poll the number of orders read by the NIC once. */
u32 hal_look_read(struct hal *hal) { return look_turn(BE32(PIO_READ()), hal->read); }

/* Poll the valid word of the next packet once. */
u32 hal_look(const u32 *came) {
    if (UNLIKELY(SHARED32(came) != 0)) {
        OFF_PATH("a packet");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Decode a received packet, find its handler, release it afterwards. */
u32 hal_receive(struct hal *hal, u32 *came, u32 *source, u32 *bytes, struct handler *to) {
    u32 taken = hal->taken, first = be32_load(came), second = be32_load(came + 1), slot = taken & (BUFFERS - 1);
    struct handler *handler = &hal->handlers[second >> 11 & 7];
    *source = first >> 24;
    *bytes = second & 0x7FF;
    if (UNLIKELY(handler->call == 0)) {
        OFF_PATH("nobody has it");
        return 0;
    }
    *to = *handler;
    SHARED32(came + 1) = 0;
    hal->taken = taken + 1;
    if (UNLIKELY((taken + 1 & 7) == 0)) {
        OFF_PATH("eight buffers go back");
        return 0;
    }
    return hal->memory + BUFFERS * MOST + slot * MOST;
}

/* Return eight buffers to the NIC. */
void hal_free(struct hal *hal) { PIO_WRITE(BE32(hal->taken)); }

/* Enable the interrupt for the next packet. */
u32 hal_ask(struct hal *hal) {
    if (UNLIKELY(!hal->on || hal->asked || hal->waiting || hal->busy)) {
        OFF_PATH("not wanted");
        return 0;
    }
    hal->asked = 1;
    PIO_WRITE(BE32(1));
    return PIO_READ();
}

/* Interrupt routine: acknowledge, and test whether a task polls already. */
u32 hal_serve(struct hal *hal) {
    hal->interrupts = hal->interrupts + 1;
    hal->asked = 0;
    PIO_WRITE(BE32(1u << 30));
    if (UNLIKELY(hal->waiting || hal->busy)) {
        OFF_PATH("they take the packet");
        return 0;
    }
    return 1;
}

/* One turn of the routine's delay loop. */
u32 hal_pause(u32 *turns) {
    u32 left = *turns - 1;
    *(volatile u32 *)turns = left;
    if (UNLIKELY(left == 0)) {
        OFF_PATH("look again");
        return 0;
    }
    LOOP_AGAIN();
    return 1;
}
