/* Written by `python -m firmware.epos.host.composer` from pointcuts.py and protocols/; do not edit. */
#ifndef EPOS_COMPOSED_H
#define EPOS_COMPOSED_H
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
#ifdef WITH_PROTECTION
#define HAS_PROTECTION 1
#else
#define HAS_PROTECTION 0
#endif
#define HAS_CONTROL (HAS_RENDEZVOUS || HAS_MTU || HAS_FLOW || HAS_RELIABILITY)

/* Words of a frame's header: those of the baseline, then those of each selected protocol, in their order. */
enum {
    EPOS_KEY,
    EPOS_NUMBER,
    EPOS_INFO,
    EPOS_MULTICAST = 3,
    EPOS_RENDEZVOUS = EPOS_MULTICAST + 1 * HAS_MULTICAST,
    EPOS_FLOW = EPOS_RENDEZVOUS + 1 * HAS_RENDEZVOUS,
    EPOS_RELIABILITY = EPOS_FLOW + 1 * HAS_FLOW,
    EPOS_ACTIVE = EPOS_RELIABILITY + 1 * HAS_RELIABILITY,
    EPOS_PROTECTION = EPOS_ACTIVE + 1 * HAS_ACTIVE,
    HEADER_WORDS = EPOS_PROTECTION + 1 * HAS_PROTECTION
};

/* The number of the composition, which its frames carry: a bit for each protocol. */
enum {
    BIT_MULTICAST,
    BIT_RENDEZVOUS,
    BIT_MTU,
    BIT_FLOW,
    BIT_RELIABILITY,
    BIT_ACTIVE,
    BIT_PROTECTION,
    COMPOSITION =
        HAS_MULTICAST << BIT_MULTICAST |
        HAS_RENDEZVOUS << BIT_RENDEZVOUS |
        HAS_MTU << BIT_MTU |
        HAS_FLOW << BIT_FLOW |
        HAS_RELIABILITY << BIT_RELIABILITY |
        HAS_ACTIVE << BIT_ACTIVE |
        HAS_PROTECTION << BIT_PROTECTION
};

#endif
