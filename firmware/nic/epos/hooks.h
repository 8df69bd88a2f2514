/* The point-cuts of the NIC: at each one the selected protocols are called, in their order; of the others nothing is left. */
#ifndef EPOS_HOOKS_H
#define EPOS_HOOKS_H

#define INLINE static inline __attribute__((always_inline))

#ifndef FRAME_OFFSET
#define FRAME_OFFSET(frame, number) ((number & 0x3FFF) << MTU_SHIFT)
#endif

#define AT_TX(nic, frame, bell) do { } while (0)
#define AT_TX_DONE(nic, bell) do { } while (0)
#define AT_RX(nic, source, frame, address) do { } while (0)
#define AT_STORED(nic, buffer) do { } while (0)

#endif
