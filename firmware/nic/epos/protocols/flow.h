/* Flow control on the NIC: a frame says how many messages of this node its sender has copied out. */
#if IN_BUILD(HAS_FLOW)
#define FLOW_WORDS u32 credit[NODES];
#else
#define FLOW_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void flow_rx(struct nic *nic, u32 source, struct frame *frame) {
#if IN_BUILD(HAS_FLOW)
    ACTIVE(nic, FLOW) {
        DORMANT();
#if HAS_MULTICAST
        if (UNLIKELY(frame->words[EPOS_FLOW] == ~0u)) {
            OFF_PATH("to several nodes: it says nothing");
            return;
        }
#endif
        SHARED32(&nic->credit[source]) = frame->words[EPOS_FLOW];
    }
#endif
}
#endif
