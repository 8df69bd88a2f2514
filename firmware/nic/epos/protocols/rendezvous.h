/* Rendezvous on the NIC: a frame of a message that was granted goes into the posted buffer. */
#if IN_BUILD(HAS_RENDEZVOUS)
#define RENDEZVOUS_WORDS struct { u32 posted, granted, asked, pages[PAGES]; } rendezvous[NODES];
#else
#define RENDEZVOUS_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void rendezvous_rx(struct nic *nic, struct frame *frame) {
#if IN_BUILD(HAS_RENDEZVOUS)
    ACTIVE(nic, RENDEZVOUS) {
        DORMANT();
        if (UNLIKELY(frame->words[EPOS_RENDEZVOUS])) {
            OFF_PATH("straight: epos_direct");
            nic->sent = 0;
        }
    }
#endif
}
#endif
