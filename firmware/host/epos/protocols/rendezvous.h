/* Rendezvous on the host: a long message waits for a buffer at its receiver, and is not copied out there. */
#if IN_BUILD(HAS_RENDEZVOUS)
#define RENDEZVOUS_WORDS u32 direct, asked[NODES], granted[NODES], posted[NODES], page;
#else
#define RENDEZVOUS_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void rendezvous_message(struct epos *epos, u32 size) {
#if IN_BUILD(HAS_RENDEZVOUS)
    ACTIVE(epos, RENDEZVOUS) {
        DORMANT();
        if (UNLIKELY(size >= LONG)) {
            OFF_PATH("a long one: epos_ask");
            return;
        }
        epos->direct = 0;
    }
#endif
}
INLINE void rendezvous_frame(struct epos *epos) {
#if IN_BUILD(HAS_RENDEZVOUS)
    ACTIVE(epos, RENDEZVOUS) {
        DORMANT();
        PIO_WRITE(BE32(epos->direct));
    }
#endif
}
INLINE void rendezvous_assembled(struct epos *epos, u32 size) {
#if IN_BUILD(HAS_RENDEZVOUS)
    ACTIVE(epos, RENDEZVOUS) {
        DORMANT();
        if (UNLIKELY(size >= LONG)) {
            OFF_PATH("it is in a posted buffer");
            epos->page = 0;
        }
    }
#endif
}
#endif
