/* Cost of each step of HAL on the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * The words and the ring are shared with the host. */
#include "turns.h"

struct shared { u32 memory, freed, read, interrupt, dropped, bad, unused[58], orders[64]; };
struct hal {
    struct shared *shared;
    u32 place, held, memory, me, taken, launched, read, came;
    u32 *first, *last, orders[64];
};

/* Poll once for the driver's buffer address. */
u32 hal_look_memory(struct shared *shared) { return look_turn(SHARED32(&shared->memory), 0); }

/* Poll the ring of orders once; last step of the polling loop. */
u32 hal_look_order(struct hal *hal) { return look_turn(SHARED32(&hal->shared->orders[hal->place]), hal->held); }

/* Hold an order while the packet port has no room. */
void hal_hold(struct hal *hal, u32 word) { hal->held = word; }

/* Take an order: address and size of its packet. */
u32 hal_take(struct hal *hal, u32 word, u32 *size) {
    u32 place = hal->place;
    SHARED32(&hal->shared->orders[place]) = 0;
    hal->held = 0;
    hal->place = (place + 1) & 63;
    hal->orders[hal->taken & 63] = word;
    hal->taken = hal->taken + 1;
    *size = (word >> 20 & 0x3FF) + 1;
    return hal->memory + ((word & 63) << 10);
}

/* Build header and route of the oldest order's packet. */
u32 hal_launch(struct hal *hal, u32 *header) {
    u32 number = hal->launched, word;
    if (UNLIKELY(number == hal->taken)) {
        OFF_PATH("there is none");
        return 0;
    }
    word = hal->orders[number & 63];
    number = number + 1;
    hal->launched = number;
    header[0] = hal->me | (number & 0xFFFFFF);
    header[1] = ((word >> 20 & 0x3FF) + 1) | (word >> 17 & 7) << 26 | ((word >> 20) + 1) << 29;
    return (word >> 6 & 127) | (word >> 13 & 15) << 7;
}

/* Publish that a buffer has been read. */
void hal_read(struct hal *hal) {
    u32 read = hal->read + 1;
    hal->read = read;
    SHARED32(&hal->shared->read) = read;
}

/* Choose the receive buffer of an arrived packet, and the words that announce it. */
u32 hal_arrived(struct hal *hal, u32 first, u32 second, u32 *told, u32 *tells) {
    u32 count = hal->came, slot = count & 63, size = second & 0x7FF;
    if (UNLIKELY(count - SHARED32(&hal->shared->freed) > 63)) {
        OFF_PATH("the host has no buffer");
        return 0;
    }
    if (UNLIKELY(size - 1 > 1023)) {
        OFF_PATH("not one of HAL");
        return 0;
    }
    hal->came = count + 1;
    told[0] = first;
    told[1] = 1u << 31 | (second >> 26 & 7) << 11 | size;
    *tells = hal->memory + (2 << 16) + (slot << 3);
    return hal->memory + (1 << 16) + (slot << 10);
}

/* Count a packet dropped for lack of a buffer. */
void hal_full(struct shared *shared) { SHARED32(&shared->dropped) = SHARED32(&shared->dropped) + 1; }

/* Count a damaged packet. */
void hal_bad(struct shared *shared) { SHARED32(&shared->bad) = SHARED32(&shared->bad) + 1; }

/* Test whether packets stored in host memory interrupt the host. */
u32 hal_told(struct shared *shared) {
    if (UNLIKELY(SHARED32(&shared->interrupt))) {
        OFF_PATH("it interrupts");
        return 1;
    }
    return 0;
}

/* Disable further interrupts after one was raised. */
void hal_interrupt(struct shared *shared) { SHARED32(&shared->interrupt) = 0; }
