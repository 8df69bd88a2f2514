/* Fields of frames and doorbells, and the composition from the selected protocols. */
#ifndef EPOS_HEADER_H
#define EPOS_HEADER_H

#include "composed.h"

/* A doorbell without a frame, for a protocol. */
#define TELL(node, protocol, bit) ((node) << 24 | (bit) << 23 | (127 - (protocol)) << 16)

/* Frame number within its message, in the second header word; size fields of entries for an incomplete message and for
 * a greeting. */
enum { INDEX = 0x3FFF, INCOMPLETE = 0xFFFF, GREETING = 0xFFFE };

#define INLINE static inline __attribute__((always_inline))

/* A protocol's methods exist if it is selected. WITH_DYNAMIC builds all of them with flags that are tested at run
 * time, none of which is set. It is the control for the claim that unselected protocols cost nothing. */
#ifdef WITH_DYNAMIC
#define IN_BUILD(has) 1
#define ACTIVE(state, protocol) if (UNLIKELY((state)->active >> (protocol) & 1))
#define DORMANT() OFF_PATH("it does not act")
#define DYNAMIC_WORDS u32 active;
#else
#define IN_BUILD(has) (has)
#define ACTIVE(state, protocol)
#define DORMANT() ((void)0)
#define DYNAMIC_WORDS
#endif

/* Call of a protocol's method at a point-cut. */
#define CALL(state, protocol, method) \
    do { \
        ACTIVE(state, protocol) { \
            DORMANT(); \
            method; \
        } \
    } while (0)

/* With active frames: True for a protocol that does not act on this frame. */
#if HAS_ACTIVE
#define SWITCHED(bits, protocol) \
    if (UNLIKELY(!((bits) >> (protocol) & 1))) { \
        OFF_PATH("the frame has switched it off"); \
        return; \
    }
#else
#define SWITCHED(bits, protocol)
#endif

#endif
