/* Rendezvous on the host: a long message waits for a buffer at its receiver, where it is not copied. */
#ifndef EPOS_HOOKS_H
#define RENDEZVOUS_WORDS u32 direct, asked[NODES], granted[NODES], posted[NODES], page;
#else

INLINE void rendezvous_message(struct epos *epos, u32 node, u32 size) {
    if (UNLIKELY(size >= LONG)) {
        OFF_PATH("a long one: epos_ask");
        return;
    }
    epos->direct = 0;
}

INLINE void rendezvous_frame(struct epos *epos, u32 node) {
    PIO_WRITE(BE32(epos->direct));
}

INLINE void rendezvous_assembled(struct epos *epos, u32 size) {
    if (UNLIKELY(size >= LONG)) {
        OFF_PATH("it is in a posted buffer");
        epos->page = 0;
    }
}

#if HAS_RENDEZVOUS
/* Request a buffer for a long message by a doorbell. */
u32 epos_ask(struct epos *epos, u32 node) {
    u32 number = epos->asked[node] + 1;
    PIO_WRITE(BE32(TELL(node, BIT_RENDEZVOUS, 0) | number));
    return number;
}

/* Poll the buffer that a node has granted. */
u32 epos_look_grant(struct epos *epos, u32 node, u32 before) {
    u32 granted = BE32(PIO_READ());
    epos->granted[node] = granted;
    return look_turn(granted, before);
}

/* Check that the granted buffer is long enough. */
u32 epos_granted(struct epos *epos, u32 node, u32 size) {
    if (UNLIKELY((epos->granted[node] & (1 << 21) - 1) < size)) {
        OFF_PATH("too short");
        return 0;
    }
    epos->asked[node] = epos->granted[node] >> 21;
    epos->direct = 1;
    return 1;
}

/* Write one page of a posted buffer. */
u32 epos_post_page(u32 address, u32 end) {
    PIO_WRITE(BE32(address));
    if (UNLIKELY(address + 4096 == end)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return address + 4096;
}

/* Write number and size of a posted buffer, and ring its doorbell. */
void epos_post(struct epos *epos, u32 source, u32 size) {
    u32 number = epos->posted[source] + 1;
    epos->posted[source] = number;
    PIO_WRITE(BE32(number << 21 | size));
    PIO_WRITE(BE32(TELL(source, BIT_RENDEZVOUS, 1) | number));
}
#endif

#endif
