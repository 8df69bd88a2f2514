/* Reliability on the host: frames are counted, and the next one waits until the last one is acknowledged. */
#if IN_BUILD(HAS_RELIABILITY)
#define RELIABILITY_WORDS u32 frames, awaited;
#else
#define RELIABILITY_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void reliability_frame(struct epos *epos) {
#if IN_BUILD(HAS_RELIABILITY)
    ACTIVE(epos, RELIABILITY) {
        u32 frames;
        DORMANT();
        SWITCHED(epos->acting, RELIABILITY);
        frames = epos->frames + 1;
        epos->frames = frames;
        PIO_WRITE(BE32(frames));
    }
#endif
}
INLINE void reliability_sent(struct epos *epos, u32 node) {
#if IN_BUILD(HAS_RELIABILITY)
    ACTIVE(epos, RELIABILITY) {
        DORMANT();
        SWITCHED(epos->acting, RELIABILITY);
        epos->awaited = node;
    }
#endif
}
#endif
