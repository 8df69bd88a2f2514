/* MTU adaptation on the host: the NICs of all nodes must know the MTU of this host's frames. */
#ifdef EPOS_HOOKS_H

#if HAS_MTU
/* Ring the doorbell that sends a node the new MTU. */
void epos_ring_mtu(u32 node, u32 shift) { PIO_WRITE(BE32(TELL(node, BIT_MTU, 0) | shift)); }

/* Poll the MTU that a node has confirmed. */
u32 epos_look_mtu(u32 before) { return look_turn(BE32(PIO_READ()), before); }
#endif

#endif
