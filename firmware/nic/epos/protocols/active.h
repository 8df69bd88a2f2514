/* Active frames on the NIC: the header says which protocols act on a frame. */
#if IN_BUILD(HAS_ACTIVE)
#define ACTIVE_BUFFER u32 active;
#else
#define ACTIVE_BUFFER
#endif
#ifdef EPOS_HOOKS_H
INLINE void active_rx(struct nic *nic, struct frame *frame) {
#if IN_BUILD(HAS_ACTIVE)
    ACTIVE(nic, ACTIVATION) {
        u32 bits;
        DORMANT();
        bits = frame->words[EPOS_ACTIVE];
        if (UNLIKELY(bits & ~COMPOSITION)) {
            OFF_PATH("it asks for what is not composed in");
            return;
        }
        nic->current->active = bits;
    }
#endif
}
#endif
