/* The words of a frame's header: those of the baseline, then one for each selected protocol that has one, in their order. */
#ifndef EPOS_HEADER_H
#define EPOS_HEADER_H

#ifdef WITH_MULTICAST
#define HAS_MULTICAST 1
#else
#define HAS_MULTICAST 0
#endif
#ifdef WITH_RENDEZVOUS
#define HAS_RENDEZVOUS 1
#else
#define HAS_RENDEZVOUS 0
#endif
#ifdef WITH_MTU
#define HAS_MTU 1
#else
#define HAS_MTU 0
#endif
#ifdef WITH_FLOW
#define HAS_FLOW 1
#else
#define HAS_FLOW 0
#endif
#ifdef WITH_RELIABILITY
#define HAS_RELIABILITY 1
#else
#define HAS_RELIABILITY 0
#endif
#ifdef WITH_ACTIVE
#define HAS_ACTIVE 1
#else
#define HAS_ACTIVE 0
#endif
#define HAS_CONTROL (HAS_RENDEZVOUS || HAS_MTU || HAS_FLOW || HAS_RELIABILITY)

enum {
    EPOS_KEY, EPOS_NUMBER, EPOS_TOLD,
    EPOS_MULTICAST, EPOS_RENDEZVOUS = EPOS_MULTICAST + HAS_MULTICAST, EPOS_FLOW = EPOS_RENDEZVOUS + HAS_RENDEZVOUS,
    EPOS_RELIABILITY = EPOS_FLOW + HAS_FLOW, EPOS_ACTIVE = EPOS_RELIABILITY + HAS_RELIABILITY, HEADER_WORDS = EPOS_ACTIVE + HAS_ACTIVE
};

/* The number of the composition, which its frames carry: a bit for each protocol. Its doorbells that are no frames name it. */
enum { MULTICAST, RENDEZVOUS, ADAPTED, FLOW, RELIABILITY, ACTIVATION };
enum {
    COMPOSITION = HAS_MULTICAST << MULTICAST | HAS_RENDEZVOUS << RENDEZVOUS | HAS_MTU << ADAPTED | HAS_FLOW << FLOW
        | HAS_RELIABILITY << RELIABILITY | HAS_ACTIVE << ACTIVATION
};
#define TELL(node, protocol, bit) ((node) << 24 | (bit) << 23 | (127 - (protocol)) << 16)

/* Of the second word: the number in the message. Of an entry: bytes where no more comes of a message. */
enum { INDEX = 0x3FFF, INCOMPLETE = 0xFFFF };

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
