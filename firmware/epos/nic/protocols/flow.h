/* Flow control on the NIC: a frame says how many messages of this node its sender has copied out. */
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
/* The host has a credit for a node that goes alone. */
u32 epos_credit(u32 bell, u32 *count) {
    *count = bell & 0xFFFF;
    return bell >> 24;
}

#if HAS_RELIABILITY
/* Another node asks how many of its messages were copied out. */
u32 epos_answer(struct nic *nic, struct frame *frame) {
    return SHARED32(&nic->freed[CONTROL_ROW(frame->words[EPOS_KEY], frame->words[EPOS_NUMBER])]);
}
#endif
#endif

#endif
