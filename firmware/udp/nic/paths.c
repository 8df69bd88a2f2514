/* Cost of each step of UDP on the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * The words and the rings are shared with the driver. */
#include "paths.h"

struct order { u32 address, word; };
struct shared { u32 came, read, dropped, bad, unused[60]; struct order orders[64]; u32 slots[64]; };
struct udp {
    struct shared *shared;
    u32 held, ring, me, taken, launched, read, came;
    struct order frames[64];
};

/* Poll once for the driver's ring address. */
u32 udp_look_driver(struct shared *shared) {
    u32 ring = SHARED32(&shared->came);
    if (UNLIKELY(ring != 0)) {
        OFF_PATH("the driver is there");
        return ring;
    }
    LOOP_AGAIN();
    return 0;
}

/* Poll the ring of orders once; last step of the polling loop. */
u32 udp_look_order(struct udp *udp) {
    u32 word = SHARED32(&udp->shared->orders[udp->taken & 63].word);
    if (UNLIKELY(word != udp->held)) {
        OFF_PATH("an order");
        return word;
    }
    LOOP_AGAIN();
    return 0;
}

/* Hold an order while the packet port has no room. */
void udp_hold(struct udp *udp, u32 word) { udp->held = word; }

/* Take an order: address and size of its frame. */
u32 udp_take(struct udp *udp, u32 word, u32 *size) {
    u32 taken = udp->taken, place = taken & 63;
    struct order *order = &udp->shared->orders[place];
    u32 address = SHARED32(&order->address);
    SHARED32(&order->word) = 0;
    udp->held = 0;
    udp->frames[place].word = word;
    udp->taken = taken + 1;
    *size = word >> 7 & 0x3FFF;
    return address;
}

/* Build the header of the oldest frame, and find its node. */
u32 udp_launch(struct udp *udp, u32 *header) {
    u32 number = udp->launched, word, size;
    if (UNLIKELY(number == udp->taken)) {
        OFF_PATH("there is none");
        return 0;
    }
    word = udp->frames[number & 63].word;
    size = word >> 7 & 0x3FFF;
    number = number + 1;
    udp->launched = number;
    header[0] = udp->me | (number & 0xFFFFFF);
    header[1] = size | size << 29;
    return word & 127;
}

/* Publish that a frame has been read. */
void udp_read(struct udp *udp) {
    u32 read = udp->read + 1;
    udp->read = read;
    SHARED32(&udp->shared->read) = read;
}

/* Choose the receive buffer of an arrived frame, and the words that announce it. */
u32 udp_arrived(struct udp *udp, u32 first, u32 second, u32 *told, u32 *tells) {
    u32 count = udp->came, place = count & 63, size = second & 0x3FFF;
    u32 buffer = SHARED32(&udp->shared->slots[place]);
    if (UNLIKELY(buffer == 0)) {
        OFF_PATH("the driver has given none");
        return 0;
    }
    if (UNLIKELY(size - 21 > 9000 - 21)) {
        OFF_PATH("not a frame");
        return 0;
    }
    SHARED32(&udp->shared->slots[place]) = 0;
    udp->came = count + 1;
    told[0] = first;
    told[1] = 1u << 31 | size;
    *tells = udp->ring + (place << 3);
    return buffer;
}

/* Count a frame dropped for lack of a buffer. */
void udp_full(struct shared *shared) { SHARED32(&shared->dropped) = SHARED32(&shared->dropped) + 1; }

/* Count a damaged frame. */
void udp_bad(struct shared *shared) { SHARED32(&shared->bad) = SHARED32(&shared->bad) + 1; }
