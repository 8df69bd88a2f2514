/* What the words of frames and doorbells mean, and how a composition is made of the selected protocols. */
#ifndef EPOS_HEADER_H
#define EPOS_HEADER_H

#include "composed.h"

/* A doorbell that is no frame: for which protocol it is. */
#define TELL(node, protocol, bit) ((node) << 24 | (bit) << 23 | (127 - (protocol)) << 16)

/* Of the second word: the number in the message. Of an entry: bytes where no more comes of a message, or where a host says what it
 * is composed of. */
enum { INDEX = 0x3FFF, INCOMPLETE = 0xFFFF, GREETING = 0xFFFE };

#define INLINE static inline __attribute__((always_inline))

/* A protocol's methods are there where it is selected. WITH_DYNAMIC is the control of the claim that what is not selected costs
 * nothing: all are there, and a flag that is read at run time says of each whether it acts; none does. */
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

/* A protocol's method at a point-cut. */
#define CALL(state, protocol, method) \
    do { \
        ACTIVE(state, protocol) { \
            DORMANT(); \
            method; \
        } \
    } while (0)

/* Where frames say which protocols act on them: one that does not act on this one. */
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
