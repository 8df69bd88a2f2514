/* Reliability on the NIC: a frame that has come before is not taken again; each that is stored is acknowledged. */
#if IN_BUILD(HAS_RELIABILITY)
#define RELIABILITY_WORDS u32 accepted[NODES], acknowledged[NODES], stored[NODES], *acks;
#define RELIABILITY_BUFFER u32 number;
#else
#define RELIABILITY_WORDS
#define RELIABILITY_BUFFER
#endif
#ifdef EPOS_HOOKS_H
INLINE void reliability_rx(struct nic *nic, u32 source, struct frame *frame) {
#if IN_BUILD(HAS_RELIABILITY)
    ACTIVE(nic, RELIABILITY) {
        u32 number;
        DORMANT();
        SWITCHED(frame->words[EPOS_ACTIVE], RELIABILITY);
        number = frame->words[EPOS_RELIABILITY];
        if (UNLIKELY(nic->accepted[source] == number)) {
            OFF_PATH("it has come before");
            return;
        }
        nic->accepted[source] = number;
        nic->current->number = number;
    }
#endif
}
INLINE void reliability_stored(struct nic *nic, struct buffer *buffer) {
#if IN_BUILD(HAS_RELIABILITY)
    ACTIVE(nic, RELIABILITY) {
        u32 *ack, source, number;
        DORMANT();
        SWITCHED(buffer->active, RELIABILITY);
        ack = nic->acks;
        source = buffer->told >> 24 & 63;
        number = buffer->number;
        nic->stored[source] = number;
        ack[0] = source;
        ack[1] = number;
        nic->acks = ack + 2;
    }
#endif
}
#endif
