/* Flow control on the host: a message needs a credit; credits of other nodes are returned in the header. */
#ifndef EPOS_HOOKS_H
#define FLOW_WORDS u32 count[NODES], credit[NODES], given[NODES];
#else

INLINE void flow_message(struct epos *epos, u32 node, u32 size) {
    u32 count = epos->count[node];
    if (UNLIKELY(count - epos->credit[node] >= SLOTS)) {
        OFF_PATH("no credit");
        return;
    }
    epos->count[node] = count + 1;
}

INLINE void flow_frame(struct epos *epos, u32 node) {
    u32 taken = epos->returned[node];
#if HAS_MULTICAST
    if (UNLIKELY(epos->further)) {
        OFF_PATH("to several nodes: it says nothing");
        taken = ~0u;
    }
#endif
    epos->given[node] = taken;
    PIO_WRITE(BE32(taken));
}

INLINE void flow_copied(struct epos *epos, u32 source, u32 taken) {
    if (UNLIKELY(taken - epos->given[source] >= SLOTS / 2)) {
        OFF_PATH("a credit goes alone");
        epos->given[source] = taken;
    }
}

#if HAS_FLOW
/* Poll the credits of a node. */
u32 epos_look_credit(struct epos *epos, u32 node, u32 before) {
    u32 credit = BE32(PIO_READ());
    epos->credit[node] = credit;
    return look_turn(credit, before);
}

/* Return a credit by the doorbell of a control frame. */
void epos_give(struct epos *epos, u32 source) {
    u32 taken = epos->taken[source];
    epos->given[source] = taken;
    PIO_WRITE(BE32(TELL(source, BIT_FLOW, 0) | (taken & 0xFFFF)));
}

#if HAS_RELIABILITY
/* Request a credit by a doorbell, after a long wait. */
void epos_probe(u32 node) { PIO_WRITE(BE32(TELL(node, BIT_FLOW, 1))); }
#endif
#endif

#endif
