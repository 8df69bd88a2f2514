/* Multicast on the NIC: a frame whose header names further nodes is sent again, to the next one. */
#ifdef EPOS_HOOKS_H
INLINE void multicast_tx_done(struct nic *nic, u32 bell) {
#if IN_BUILD(HAS_MULTICAST)
    ACTIVE(nic, MULTICAST) {
        u32 left;
        DORMANT();
        left = nic->slots[bell >> 16 & 127]->words[EPOS_MULTICAST];
        if (UNLIKELY(left)) {
            OFF_PATH("to the next one");
            nic->sent--;
        }
    }
#endif
}
#endif
