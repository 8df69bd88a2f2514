/* Flow control on the NIC: a frame has the number of this node's messages that its sender has copied out. */
#ifndef EPOS_HOOKS_H
#define FLOW_WORDS u32 credit[ROWS];
#else

INLINE void flow_rx(struct nic *nic, u32 source, struct frame *frame) {
#if HAS_MULTICAST
    if (UNLIKELY(frame->words[EPOS_FLOW] == ~0u)) {
        OFF_PATH("to several nodes: it says nothing");
        return;
    }
#endif
    SHARED32(&nic->credit[source]) = frame->words[EPOS_FLOW];
}

#if HAS_FLOW
/* Take the host's doorbell for a credit without a frame. */
u32 epos_credit(u32 bell, u32 *count) {
    *count = bell & 0xFFFF;
    return bell >> 24;
}

#if HAS_RELIABILITY
/* Answer another node's request for credits. */
u32 epos_answer(struct nic *nic, struct frame *frame) {
    return SHARED32(&nic->freed[CONTROL_ROW(frame->words[EPOS_KEY], frame->words[EPOS_NUMBER])]);
}
#endif
#endif

#endif
