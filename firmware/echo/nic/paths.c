/* What each step of echo costs on the LANai. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"
#include "../../common/nic/block.h"

#ifndef SRAM_WORD /* bytes; executed firmware has that of its NIC */
#define SRAM_WORD 8
#endif

struct route { u32 high, low, begin, skip; };
struct slot { u32 route_high, route_low, type, destination_size, payload[16], state; };
struct shared { struct block packet, flag; u32 one, unused[3], inbox, consumed; };

/* One look at the word that tells where the host's inbox is. */
u32 look_inbox(struct shared *shared) {
    u32 inbox = SHARED32(&shared->inbox);
    if (UNLIKELY(inbox != 0)) {
        OFF_PATH("the host is ready");
        return inbox;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the state of the slot. */
u32 look_slot(struct slot *slot) {
    if (UNLIKELY(SHARED32(&slot->state) & 1)) {
        OFF_PATH("the slot is full");
        return 1;
    }
    return 0;
}

/* One look at a bit of ISR. */
u32 look_isr(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("an engine is done");
        return 1;
    }
    return 0;
}

/* One look at the word in which the host says that its inbox is free; the last step of the loop. */
u32 look_consumed(struct shared *shared) {
    if (UNLIKELY(SHARED32(&shared->consumed) != 0)) {
        OFF_PATH("the inbox is free");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Put the route before the packet, and hand both to the send engine. */
void send(struct slot *slot, struct route *routes) {
    u32 word, size;
    struct route *route;
    SHARED32(&slot->state) = 2;
    word = SHARED32(&slot->destination_size);
    route = &routes[word >> 16];
    size = word & 0xFFFF;
    slot->route_high = route->high;
    slot->route_low = route->low;
    REGISTER_WRITE(SMP, (u32)slot + route->begin);
    REGISTER_WRITE(SA, route->skip);
    REGISTER_WRITE(SMLT, (u32)&slot->payload + ((size + 7) & ~7u));
}

/* The slot is empty again. */
void sent(struct slot *slot) {
    REGISTER_WRITE(ISR, 1u << 3);
    SHARED32(&slot->state) = 0;
}

/* Let the next packet in. */
void arm(struct shared *shared, u32 buffer) {
    SHARED32(&shared->consumed) = 0;
    REGISTER_WRITE(RMP, buffer);
    REGISTER_WRITE(RML, buffer + 128);
}

/* Look at the syndrome, and start the two blocks of the chain. */
void deliver(struct shared *shared, u32 buffer) {
    u32 end;
    REGISTER_WRITE(ISR, 1u << 1);
    end = REGISTER_READ(RMP);
    if (UNLIKELY(SHARED32((u32 *)(end - SRAM_WORD)) >> 24)) {
        OFF_PATH("the CRC-8 was wrong");
        arm(shared, buffer);
        return;
    }
    SHARED32(&shared->flag.next) = (u32)&shared->packet;
    SHARED32(&shared->packet.next) = (u32)&shared->flag;
    REGISTER_WRITE(PULSE, 1);
}
