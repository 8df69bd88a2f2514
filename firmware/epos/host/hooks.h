/* Written by `python -m firmware.epos.host.composer` from pointcuts.py and protocols/; do not edit. */
#ifndef EPOS_HOOKS_H
#define EPOS_HOOKS_H
#if IN_BUILD(HAS_MULTICAST)
#include "protocols/multicast.h"
#endif
#if IN_BUILD(HAS_RENDEZVOUS)
#include "protocols/rendezvous.h"
#endif
#if IN_BUILD(HAS_MTU)
#include "protocols/mtu.h"
#endif
#if IN_BUILD(HAS_FLOW)
#include "protocols/flow.h"
#endif
#if IN_BUILD(HAS_RELIABILITY)
#include "protocols/reliability.h"
#endif
#if IN_BUILD(HAS_ACTIVE)
#include "protocols/active.h"
#endif

#if IN_BUILD(HAS_RENDEZVOUS)
#define RENDEZVOUS_MESSAGE(epos, node, size) CALL(epos, BIT_RENDEZVOUS, rendezvous_message(epos, node, size))
#else
#define RENDEZVOUS_MESSAGE(epos, node, size) ((void)0)
#endif
#if IN_BUILD(HAS_FLOW)
#define FLOW_MESSAGE(epos, node, size) CALL(epos, BIT_FLOW, flow_message(epos, node, size))
#else
#define FLOW_MESSAGE(epos, node, size) ((void)0)
#endif
#define AT_MESSAGE(epos, node, size) \
    do { \
        RENDEZVOUS_MESSAGE(epos, node, size); \
        FLOW_MESSAGE(epos, node, size); \
    } while (0)

#if IN_BUILD(HAS_MULTICAST)
#define MULTICAST_FRAME(epos, node) CALL(epos, BIT_MULTICAST, multicast_frame(epos, node))
#else
#define MULTICAST_FRAME(epos, node) ((void)0)
#endif
#if IN_BUILD(HAS_RENDEZVOUS)
#define RENDEZVOUS_FRAME(epos, node) CALL(epos, BIT_RENDEZVOUS, rendezvous_frame(epos, node))
#else
#define RENDEZVOUS_FRAME(epos, node) ((void)0)
#endif
#if IN_BUILD(HAS_FLOW)
#define FLOW_FRAME(epos, node) CALL(epos, BIT_FLOW, flow_frame(epos, node))
#else
#define FLOW_FRAME(epos, node) ((void)0)
#endif
#if IN_BUILD(HAS_RELIABILITY)
#define RELIABILITY_FRAME(epos, node) CALL(epos, BIT_RELIABILITY, reliability_frame(epos, node))
#else
#define RELIABILITY_FRAME(epos, node) ((void)0)
#endif
#if IN_BUILD(HAS_ACTIVE)
#define ACTIVE_FRAME(epos, node) CALL(epos, BIT_ACTIVE, active_frame(epos, node))
#else
#define ACTIVE_FRAME(epos, node) ((void)0)
#endif
#if IN_BUILD(HAS_PROTECTION)
#define PROTECTION_FRAME(epos, node) CALL(epos, BIT_PROTECTION, PIO_WRITE(0))
#else
#define PROTECTION_FRAME(epos, node) ((void)0)
#endif
#define AT_FRAME(epos, node) \
    do { \
        MULTICAST_FRAME(epos, node); \
        RENDEZVOUS_FRAME(epos, node); \
        FLOW_FRAME(epos, node); \
        RELIABILITY_FRAME(epos, node); \
        ACTIVE_FRAME(epos, node); \
        PROTECTION_FRAME(epos, node); \
    } while (0)

#if IN_BUILD(HAS_RELIABILITY)
#define RELIABILITY_SENT(epos, node) CALL(epos, BIT_RELIABILITY, reliability_sent(epos, node))
#else
#define RELIABILITY_SENT(epos, node) ((void)0)
#endif
#define AT_SENT(epos, node) \
    do { \
        RELIABILITY_SENT(epos, node); \
    } while (0)

#if IN_BUILD(HAS_RENDEZVOUS)
#define RENDEZVOUS_ASSEMBLED(epos, size) CALL(epos, BIT_RENDEZVOUS, rendezvous_assembled(epos, size))
#else
#define RENDEZVOUS_ASSEMBLED(epos, size) ((void)0)
#endif
#define AT_ASSEMBLED(epos, size) \
    do { \
        RENDEZVOUS_ASSEMBLED(epos, size); \
    } while (0)

#if IN_BUILD(HAS_FLOW)
#define FLOW_COPIED(epos, source, taken) CALL(epos, BIT_FLOW, flow_copied(epos, source, taken))
#else
#define FLOW_COPIED(epos, source, taken) ((void)0)
#endif
#define AT_COPIED(epos, source, taken) \
    do { \
        FLOW_COPIED(epos, source, taken); \
    } while (0)

#endif
