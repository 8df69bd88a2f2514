/* What each step of UDP costs the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * The words and the rings are shared with the driver; the rest is the firmware's own. */
#include "paths.h"

struct order { u32 address, word; };
struct shared { u32 came, read, dropped, bad, unused[60]; struct order orders[64]; u32 slots[64]; };
struct udp {
    struct shared *shared;
    u32 held, ring, me, taken, launched, read, came;
    struct order frames[64];
};

/* One look at the word that tells that the driver is there. */
u32 udp_look_driver(struct shared *shared) {
    u32 ring = SHARED32(&shared->came);
    if (UNLIKELY(ring != 0)) {
        OFF_PATH("the driver is there");
        return ring;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the ring of orders; the last step of the loop. */
u32 udp_look_order(struct udp *udp) {
    u32 word = SHARED32(&udp->shared->orders[udp->taken & 63].word);
    if (UNLIKELY(word != udp->held)) {
        OFF_PATH("an order");
        return word;
    }
    LOOP_AGAIN();
    return 0;
}

/* There is no room for its frame yet. */
void udp_hold(struct udp *udp, u32 word) { udp->held = word; }

/* Take an order: where its frame stands, and how long it is. */
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

/* The oldest frame: its two words, and its node. */
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

/* A frame is read. */
void udp_read(struct udp *udp) {
    u32 read = udp->read + 1;
    udp->read = read;
    SHARED32(&udp->shared->read) = read;
}

/* A frame has come: is there a buffer for it; what tells of it, and where. */
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

/* There is none: count the frame. */
void udp_full(struct shared *shared) { SHARED32(&shared->dropped) = SHARED32(&shared->dropped) + 1; }

/* It is damaged: the same. */
void udp_bad(struct shared *shared) { SHARED32(&shared->bad) = SHARED32(&shared->bad) + 1; }
