/* What each step of the FIFO card's driver costs on the host. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"

struct partner { u32 turn, route[2], first, route_bytes; };

/* Check the arguments, choose the partner's next buffer, hand route, header, descriptor and the buffer's number to the bus. */
u32 fill(u32 partners, struct partner *partner, u32 destination, u32 me, u32 *number, u32 bytes) {
    u32 turn, next, buffer;
    if (UNLIKELY(destination >= partners) || UNLIKELY(bytes > 2024)) {
        OFF_PATH("bad argument");
        return 1;
    }
    turn = partner->turn;
    partner->turn = turn + 1 & 7;
    buffer = partner->first + turn;
    next = *number + 1 & 0xFF;
    *number = next;
    PIO_WRITE(partner->route[0]);
    PIO_WRITE(partner->route[1]);
    PIO_WRITE(BE32(0x0F1Fu << 16 | me << 8 | next));
    PIO_WRITE(BE32(destination << 16 | bytes));
    PIO_WRITE(BE32(1u << 28 | (8 - partner->route_bytes) << 16 | partner->route_bytes + 8 + bytes));
    PIO_WRITE(BE32(buffer));
    return 0;
}

/* One word from host memory to the card. */
const u32 *store_word(const u32 *from, const u32 *end) {
    PIO_WRITE(*from);
    from++;
    if (UNLIKELY(from == end)) {
        OFF_PATH("the last word");
        return 0;
    }
    LOOP_AGAIN();
    return from;
}

/* One word from the card to host memory. */
u32 *load_word(u32 *to, const u32 *end) {
    *to++ = PIO_READ();
    if (UNLIKELY(to == end)) {
        OFF_PATH("the last word");
        return 0;
    }
    LOOP_AGAIN();
    return to;
}

/* One look at the descriptor of a buffer that was used: has the card sent it? */
u32 look_descriptor(void) {
    if (UNLIKELY((BE32(PIO_READ()) >> 28) == 2)) {
        OFF_PATH("it is sent");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at RX_READY. */
u32 look_ready(void) {
    if (UNLIKELY((int)BE32(PIO_READ()) < 0)) {
        OFF_PATH("a packet is there");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* What RX_READY and the header of a packet tell: where it stands, whose it is, how long it is; done with it afterwards. */
u32 take(u32 ready, u32 base, u32 *source, u32 *place) {
    u32 number = ready >> 16 & 127;
    *place = base + number * 2048 + 8;
    *source = BE32(PIO_READ()) >> 8 & 0xFF;
    PIO_WRITE(0);
    PIO_WRITE(BE32(number));
    return BE32(PIO_READ()) & 0xFFFF;
}

/* A cell: room for it, its header, the word that tells whose it is and what is left. */
u32 cell(u32 *room, u32 *cells, u32 me, u32 destination, u32 number, u32 left) {
    u32 count;
    if (UNLIKELY(*room == 0)) {
        OFF_PATH("the FIFO is full");
        return 1;
    }
    *room = *room - 1;
    count = *cells + 1 & 0xFF;
    *cells = count;
    PIO_WRITE(BE32(count << 20 | me << 10 | destination << 4));
    PIO_WRITE(BE32(me << 24 | number << 16 | left));
    return 0;
}

/* One look at STATUS: cells that have come, or that wait. */
u32 look_status(u32 *level) {
    u32 status = BE32(PIO_READ());
    *level = status >> 16;
    if (UNLIKELY(*level != 0)) {
        OFF_PATH("cells are there");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* The first word of a cell: whose message it is part of, how much of it belongs to it, where that is put together. */
u32 take_cell(u32 *there, u32 **ends) {
    u32 word = BE32(PIO_READ());
    u32 left = word & 0xFFFF, source = word >> 24;
    u32 bytes = left < 44 ? left : 44;
    *there = *there - 1;
    ends[source] += (bytes + 3) >> 2;
    PIO_WRITE(0);
    return bytes;
}
