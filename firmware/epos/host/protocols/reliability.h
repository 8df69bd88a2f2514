/* Reliability on the host: frames are numbered, and each waits for the acknowledgement of the one before. */
#ifndef EPOS_HOOKS_H
#define RELIABILITY_WORDS u32 frames, awaited;
#else

INLINE void reliability_frame(struct epos *epos, u32 node) {
    u32 frames;
    SWITCHED(epos->acting, BIT_RELIABILITY);
    frames = epos->frames + 1;
    epos->frames = frames;
    PIO_WRITE(BE32(frames));
}

INLINE void reliability_sent(struct epos *epos, u32 node) {
    SWITCHED(epos->acting, BIT_RELIABILITY);
    epos->awaited = node;
}

#if HAS_RELIABILITY
/* Poll the last acknowledgement of a node. */
u32 epos_look_ack(u32 before) { return look_turn(BE32(PIO_READ()), before); }

/* Ring the doorbell of an unacknowledged frame, which is still in the ring, again. */
void epos_again(struct epos *epos, u32 bell) {
    epos->rung = epos->rung + 1;
    PIO_WRITE(BE32(bell));
}
#endif

#endif
