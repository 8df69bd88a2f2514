/* MTU adaptation on the NIC: the offset of a frame in its message depends on its sender's MTU. */
#ifndef EPOS_HOOKS_H
#define MTU_WORDS u32 cut[ROWS], known[ROWS];
#else

INLINE u32 mtu_offset(struct nic *nic, u32 source, u32 number) {
    return (number & INDEX) << nic->cut[source];
}

#if HAS_MTU
/* Take the host's doorbell for a new MTU. */
u32 epos_tell_mtu(u32 bell, u32 *shift) {
    *shift = bell & 0xFFFF;
    return bell >> 24;
}

/* Store and confirm another node's new MTU. */
u32 epos_seen_mtu(struct nic *nic, u32 source, u32 shift) {
    nic->cut[source] = shift;
    return shift;
}

/* Store a node's confirmation of this host's MTU for the host. */
void epos_known_mtu(struct nic *nic, u32 source, u32 shift) { SHARED32(&nic->known[source]) = shift; }
#endif

#endif
