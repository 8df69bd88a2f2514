/* Multicast on the host: the header names the further nodes. */
#if IN_BUILD(HAS_MULTICAST)
#define MULTICAST_WORDS u32 further;
#else
#define MULTICAST_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void multicast_frame(struct epos *epos) {
#if IN_BUILD(HAS_MULTICAST)
    ACTIVE(epos, MULTICAST) {
        DORMANT();
        PIO_WRITE(BE32(epos->further));
    }
#endif
}
#endif
