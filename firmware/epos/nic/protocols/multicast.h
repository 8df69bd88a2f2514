/* Multicast on the NIC: a frame whose header names further nodes is sent to the next one. */
#ifdef EPOS_HOOKS_H

INLINE void multicast_tx_done(struct nic *nic, u32 bell) {
    u32 left = LEAVING(nic)->slots[bell >> 16 & 127]->words[EPOS_MULTICAST];
    if (UNLIKELY(left)) {
        OFF_PATH("to the next one");
        LEAVING(nic)->sent--;
    }
}

#if HAS_MULTICAST
/* One step of the search for the next node of a multicast. */
u32 epos_next_node(u32 left, u32 node) {
    if (UNLIKELY(left >> node & 1)) {
        OFF_PATH("this one");
        return 0;
    }
    LOOP_AGAIN();
    return node + 1;
}

/* Clear the node in the header and send the frame to it. */
void epos_repeat(struct nic *nic, struct frame *frame, u32 left) { frame->words[EPOS_MULTICAST] = left & left - 1; }
#endif

#endif
