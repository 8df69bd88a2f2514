/* MTU adaptation on the host: the NICs of all nodes must know how frames are cut from now on. */
#ifdef EPOS_HOOKS_H

#if HAS_MTU
/* The doorbell that tells a node how frames are cut from now on. */
void epos_ring_mtu(u32 node, u32 shift) { PIO_WRITE(BE32(TELL(node, BIT_MTU, 0) | shift)); }

/* One look at what a node knows of it. */
u32 epos_look_mtu(u32 before) { return look_turn(BE32(PIO_READ()), before); }
#endif

#endif
