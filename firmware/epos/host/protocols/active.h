/* Active frames on the host: the header names the protocols that act on a frame. */
#ifndef EPOS_HOOKS_H
#define ACTIVE_WORDS u32 acting;
#else

INLINE void active_frame(struct epos *epos, u32 node) {
    PIO_WRITE(BE32(epos->acting));
}

#endif
