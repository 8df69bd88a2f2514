/* Active frames on the NIC: the header names the protocols that act on a frame. */
#ifndef EPOS_HOOKS_H
#define ACTIVE_BUFFER u32 active;
#else

INLINE void active_rx(struct nic *nic, u32 source, struct frame *frame) {
    u32 bits = frame->words[EPOS_ACTIVE];
    if (UNLIKELY(bits & ~COMPOSITION)) {
        OFF_PATH("it asks for what is not composed in");
        return;
    }
    nic->current->active = bits;
}

#if HAS_ACTIVE
/* Count and drop a frame that needs protocols that are not composed in. */
void epos_refuse(struct nic *nic, u32 *refused) {
    SHARED32(refused) = SHARED32(refused) + 1;
    nic->current->busy = 0;
}
#endif

#endif
