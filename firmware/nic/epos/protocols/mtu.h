/* MTU adaptation on the NIC: where a frame belongs in its message depends on how its sender cuts. */
#if IN_BUILD(HAS_MTU)
#define MTU_WORDS u32 cut[NODES], known[NODES];
#else
#define MTU_WORDS
#endif
#ifdef EPOS_HOOKS_H
INLINE u32 mtu_offset(struct nic *nic, u32 source, u32 number) {
#if IN_BUILD(HAS_MTU)
    ACTIVE(nic, ADAPTED) {
        DORMANT();
        return (number & INDEX) << nic->cut[source];
    }
#endif
    return (number & INDEX) << MTU_SHIFT;
}
#endif
