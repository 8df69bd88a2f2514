/* Reliability on the NIC: duplicates are dropped, and each stored frame is acknowledged. */
#ifndef EPOS_HOOKS_H
#define RELIABILITY_WORDS u32 accepted[ROWS], acknowledged[ROWS], stored[ROWS], *acks;
#define RELIABILITY_BUFFER u32 number;
#else

INLINE void reliability_rx(struct nic *nic, u32 source, struct frame *frame) {
    u32 number;
    SWITCHED(frame->words[EPOS_ACTIVE], BIT_RELIABILITY);
    number = frame->words[EPOS_RELIABILITY];
    if (UNLIKELY(nic->accepted[source] == number)) {
        OFF_PATH("it has come before");
        return;
    }
    nic->accepted[source] = number;
    nic->current->number = number;
}

INLINE void reliability_stored(struct nic *nic, struct buffer *buffer) {
    u32 *ack, source, number;
    SWITCHED(buffer->active, BIT_RELIABILITY);
    ack = nic->acks;
    source = BUFFER_ROW(buffer);
    number = buffer->number;
    nic->stored[source] = number;
    ack[0] = source;
    ack[1] = number;
    nic->acks = ack + 2;
}

#if HAS_RELIABILITY
/* Drop a duplicate, and acknowledge it again if it was acknowledged before. */
u32 epos_duplicate(struct nic *nic, u32 *duplicates, u32 source, u32 number) {
    SHARED32(duplicates) = SHARED32(duplicates) + 1;
    nic->current->busy = 0;
    if (UNLIKELY(nic->stored[source] != number)) {
        OFF_PATH("it is on its way to the host");
        return 0;
    }
    return number;
}
#endif

#endif
