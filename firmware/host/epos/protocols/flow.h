/* Flow control on the host: a message is sent when there is a credit; those of others go along in the header. */
#if IN_BUILD(HAS_FLOW)
#define FLOW_WORDS u32 count[NODES], credit[NODES], given[NODES];
#else
#define FLOW_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE void flow_message(struct epos *epos, u32 node) {
#if IN_BUILD(HAS_FLOW)
    ACTIVE(epos, FLOW) {
        u32 count;
        DORMANT();
        count = epos->count[node];
        if (UNLIKELY(count - epos->credit[node] >= SLOTS)) {
            OFF_PATH("no credit");
            return;
        }
        epos->count[node] = count + 1;
    }
#endif
}
INLINE void flow_frame(struct epos *epos, u32 node) {
#if IN_BUILD(HAS_FLOW)
    ACTIVE(epos, FLOW) {
        u32 taken;
        DORMANT();
        taken = epos->taken[node];
#if HAS_MULTICAST
        if (UNLIKELY(epos->further)) {
            OFF_PATH("to several nodes: it says nothing");
            taken = ~0u;
        }
#endif
        epos->given[node] = taken;
        PIO_WRITE(BE32(taken));
    }
#endif
}
INLINE void flow_copied(struct epos *epos, u32 source, u32 taken) {
#if IN_BUILD(HAS_FLOW)
    ACTIVE(epos, FLOW) {
        DORMANT();
        if (UNLIKELY(taken - epos->given[source] >= SLOTS / 2)) {
            OFF_PATH("a credit goes alone");
            epos->given[source] = taken;
        }
    }
#endif
}
#endif
