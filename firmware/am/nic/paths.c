/* Cost of each step of AM on the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * The words and the ring are shared with the host. */
#include "turns.h"

struct descriptor { u32 address, words[8], unused[7]; };
struct shared { u32 memory, bad, interrupt, unused[61]; struct descriptor ring[1]; };
struct am {
    struct shared *shared;
    struct descriptor *next, *end, *out;
    u32 held, memory, me, payload, fetched, number, came, entries, buffers, queue;
};

/* Poll once for the driver's buffer address. */
u32 am_look_memory(struct shared *shared) { return look_turn(SHARED32(&shared->memory), 0); }

/* Poll the descriptor ring once; last step of the polling loop. */
u32 am_look_descriptor(struct am *am) { return look_turn(SHARED32(&am->next->words[7]), am->held); }

/* Hold a descriptor while the packet port has no room for its payload. */
void am_hold(struct am *am, u32 word) { am->held = word; }

/* Take a descriptor: size and address of its payload. Its words stay in the ring until the message is sent. */
u32 am_take(struct am *am, u32 word, u32 *size) {
    struct descriptor *at = am->next, *next = at + 1;
    SHARED32(&at->words[7]) = 0;
    at->unused[0] = word;
    am->held = 0;
    if (UNLIKELY(next == am->end)) {
        OFF_PATH("round the ring");
        next = am->shared->ring;
    }
    am->next = next;
    *size = word & 0x1FFF;
    return SHARED32(&at->address);
}

/* Build the header of the oldest message, whose payload, if any, has been sent. Restores the message's last word. */
u32 am_launch(struct am *am, u32 *header) {
    struct descriptor *out = am->out, *next = out + 1;
    u32 word = out->unused[0], number = am->number + 2;
    if (UNLIKELY(am->payload)) {
        OFF_PATH("its payload is first");
        return 0;
    }
    if (UNLIKELY(next == am->end)) {
        OFF_PATH("round the ring");
        next = am->shared->ring;
    }
    am->out = next;
    am->number = number;
    am->payload = next->unused[0] & 0x1FFF;
    out->words[7] = word;
    header[0] = am->me | (number & 0xFFFFFF);
    header[1] = 32 | (word >> 28 & 7) << 25;
    return out->words[0] >> 24;
}

/* Build the header of the oldest message's payload, which has been fetched. */
u32 am_launch_payload(struct am *am, u32 *header) {
    struct descriptor *out = am->out;
    u32 word = out->unused[0], fetched = am->fetched;
    if (UNLIKELY(fetched == 0)) {
        OFF_PATH("not here");
        return 0;
    }
    am->fetched = fetched - 1;
    am->payload = 0;
    header[0] = am->me | (am->number + 1 & 0xFFFFFF);
    header[1] = (word & 0x1FFF) | (word & 7) << 29 | 1u << 28 | (word >> 28 & 7) << 25;
    return out->words[0] >> 24;
}

/* Return the receive buffer of an arrived payload. */
u32 am_payload(struct am *am, u32 first, u32 second) {
    if (UNLIKELY(!(second & 1u << 28))) {
        OFF_PATH("it is a message");
        return 0;
    }
    return am->buffers + ((first >> 24) << 15) + ((second >> 25 & 7) << 12);
}

/* Return the receive-queue entry of an arrived message, with its key and valid word. */
u32 am_arrived(struct am *am, u32 first, u32 second, u32 *told) {
    u32 came = am->came, next = came + 1;
    if (UNLIKELY(second & 1u << 28)) {
        OFF_PATH("it is payload");
        return 0;
    }
    if (UNLIKELY(next == am->entries)) {
        OFF_PATH("round the queue");
        next = 0;
    }
    am->came = next;
    told[0] = first;
    told[1] = 1u << 31;
    return am->queue + (came << 6);
}

/* Test whether a message stored in host memory interrupts; only with receive=interrupt. */
u32 am_stored(struct am *am) {
    if (UNLIKELY(SHARED32(&am->shared->interrupt))) {
        OFF_PATH("it interrupts");
        return 1;
    }
    return 0;
}

/* Disable further interrupts after one was raised. */
void am_interrupt(struct shared *shared) { SHARED32(&shared->interrupt) = 0; }

/* Count a damaged packet. */
void am_bad(struct shared *shared) { SHARED32(&shared->bad) = SHARED32(&shared->bad) + 1; }
