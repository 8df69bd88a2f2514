/* Cost of each step of echo on the LANai. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"
#include "../../common/nic/block.h"

#ifndef SRAM_WORD /* bytes of an SRAM word; set by the NIC kind for executed firmware */
#define SRAM_WORD 8
#endif

struct route { u32 high, low, begin, skip; };
struct slot { u32 route_high, route_low, type, destination_size, payload[16], state; };
struct shared { struct block packet, flag; u32 one, unused[3], inbox, consumed; };

/* Poll the address of the host's inbox once. */
u32 look_inbox(struct shared *shared) {
    u32 inbox = SHARED32(&shared->inbox);
    if (UNLIKELY(inbox != 0)) {
        OFF_PATH("the host is ready");
        return inbox;
    }
    LOOP_AGAIN();
    return 0;
}

/* Poll the state of the slot once. */
u32 look_slot(struct slot *slot) {
    if (UNLIKELY(SHARED32(&slot->state) & 1)) {
        OFF_PATH("the slot is full");
        return 1;
    }
    return 0;
}

/* Poll a bit of ISR once. */
u32 look_isr(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("an engine is done");
        return 1;
    }
    return 0;
}

/* Poll CONSUMED once; last step of the polling loop. */
u32 look_consumed(struct shared *shared) {
    if (UNLIKELY(SHARED32(&shared->consumed) != 0)) {
        OFF_PATH("the inbox is free");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Put the route in front of the packet and start the send engine. */
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

/* Mark the slot as empty. */
void sent(struct slot *slot) {
    REGISTER_WRITE(ISR, 1u << 3);
    SHARED32(&slot->state) = 0;
}

/* Prepare the receive engine for the next packet. */
void arm(struct shared *shared, u32 buffer) {
    SHARED32(&shared->consumed) = 0;
    REGISTER_WRITE(RMP, buffer);
    REGISTER_WRITE(RML, buffer + 128);
}

/* Check the syndrome and start the two blocks of the chain. */
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
