/* Active frames on the host: the header says which protocols act on a frame. */
#if IN_BUILD(HAS_ACTIVE)
#define ACTIVE_WORDS u32 acting;
#else
#define ACTIVE_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void active_frame(struct epos *epos) {
#if IN_BUILD(HAS_ACTIVE)
    ACTIVE(epos, ACTIVATION) {
        DORMANT();
        PIO_WRITE(BE32(epos->acting));
    }
#endif
}
#endif
