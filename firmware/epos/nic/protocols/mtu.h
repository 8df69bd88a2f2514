/* MTU adaptation on the NIC: where a frame belongs in its message depends on how its sender cuts. */
#ifndef EPOS_HOOKS_H
#define MTU_WORDS u32 cut[ROWS], known[ROWS];
#else

INLINE u32 mtu_offset(struct nic *nic, u32 source, u32 number) {
    return (number & INDEX) << nic->cut[source];
}

#if HAS_MTU
/* The host cuts its frames otherwise: a node must know. */
u32 epos_tell_mtu(u32 bell, u32 *shift) {
    *shift = bell & 0xFFFF;
    return bell >> 24;
}

/* A node cuts its frames so from now on, and is answered. */
u32 epos_seen_mtu(struct nic *nic, u32 source, u32 shift) {
    nic->cut[source] = shift;
    return shift;
}

/* A node knows how this host cuts: the word goes to where the host looks. */
void epos_known_mtu(struct nic *nic, u32 source, u32 shift) { SHARED32(&nic->known[source]) = shift; }
#endif

#endif
