/* Multicast on the host: the header names the further nodes. */
#ifndef EPOS_HOOKS_H
#define MULTICAST_WORDS u32 further;
#else

INLINE void multicast_frame(struct epos *epos, u32 node) {
    PIO_WRITE(BE32(epos->further));
}

#endif
