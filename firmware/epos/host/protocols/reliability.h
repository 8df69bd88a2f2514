/* Reliability on the host: frames are counted, and the next one waits until the last one is acknowledged. */
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
/* One look at what a node has acknowledged. */
u32 epos_look_ack(u32 before) { return look_turn(BE32(PIO_READ()), before); }

/* No acknowledgement in time: the doorbell of the frame, which still stands in the ring, once more. */
void epos_again(struct epos *epos, u32 bell) {
    epos->rung = epos->rung + 1;
    PIO_WRITE(BE32(bell));
}
#endif

#endif
