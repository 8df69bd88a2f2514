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
#if IN_BUILD(HAS_PROTECTION)
#include "protocols/protection.h"
#endif

#if IN_BUILD(HAS_PROTECTION)
#define PROTECTION_BELL(nic, bell) CALL(nic, BIT_PROTECTION, protection_bell(nic, bell))
#else
#define PROTECTION_BELL(nic, bell) ((void)0)
#endif
#define AT_BELL(nic, bell) \
    do { \
        PROTECTION_BELL(nic, bell); \
    } while (0)

#if IN_BUILD(HAS_PROTECTION)
#define PROTECTION_FETCH(nic, bell) CALL(nic, BIT_PROTECTION, protection_fetch(nic, bell))
#else
#define PROTECTION_FETCH(nic, bell) ((void)0)
#endif
#define AT_FETCH(nic, bell) \
    do { \
        PROTECTION_FETCH(nic, bell); \
    } while (0)

#if IN_BUILD(HAS_PROTECTION)
#define PROTECTION_TX(nic, bell) CALL(nic, BIT_PROTECTION, protection_tx(nic, bell))
#else
#define PROTECTION_TX(nic, bell) ((void)0)
#endif
#define AT_TX(nic, bell) \
    do { \
        PROTECTION_TX(nic, bell); \
    } while (0)

#if IN_BUILD(HAS_MULTICAST)
#define MULTICAST_TX_DONE(nic, bell) CALL(nic, BIT_MULTICAST, multicast_tx_done(nic, bell))
#else
#define MULTICAST_TX_DONE(nic, bell) ((void)0)
#endif
#if IN_BUILD(HAS_PROTECTION)
#define PROTECTION_TX_DONE(nic, bell) CALL(nic, BIT_PROTECTION, protection_tx_done(nic, bell))
#else
#define PROTECTION_TX_DONE(nic, bell) ((void)0)
#endif
#define AT_TX_DONE(nic, bell) \
    do { \
        MULTICAST_TX_DONE(nic, bell); \
        PROTECTION_TX_DONE(nic, bell); \
    } while (0)

#if IN_BUILD(HAS_PROTECTION)
#define PROTECTION_RX(nic, source, frame) CALL(nic, BIT_PROTECTION, protection_rx(nic, source, frame))
#else
#define PROTECTION_RX(nic, source, frame) ((void)0)
#endif
#if IN_BUILD(HAS_ACTIVE)
#define ACTIVE_RX(nic, source, frame) CALL(nic, BIT_ACTIVE, active_rx(nic, source, frame))
#else
#define ACTIVE_RX(nic, source, frame) ((void)0)
#endif
#if IN_BUILD(HAS_RELIABILITY)
#define RELIABILITY_RX(nic, source, frame) CALL(nic, BIT_RELIABILITY, reliability_rx(nic, source, frame))
#else
#define RELIABILITY_RX(nic, source, frame) ((void)0)
#endif
#if IN_BUILD(HAS_FLOW)
#define FLOW_RX(nic, source, frame) CALL(nic, BIT_FLOW, flow_rx(nic, source, frame))
#else
#define FLOW_RX(nic, source, frame) ((void)0)
#endif
#if IN_BUILD(HAS_RENDEZVOUS)
#define RENDEZVOUS_RX(nic, source, frame) CALL(nic, BIT_RENDEZVOUS, rendezvous_rx(nic, source, frame))
#else
#define RENDEZVOUS_RX(nic, source, frame) ((void)0)
#endif
#define AT_RX(nic, source, frame) \
    do { \
        PROTECTION_RX(nic, source, frame); \
        ACTIVE_RX(nic, source, frame); \
        RELIABILITY_RX(nic, source, frame); \
        FLOW_RX(nic, source, frame); \
        RENDEZVOUS_RX(nic, source, frame); \
    } while (0)

#if IN_BUILD(HAS_RELIABILITY)
#define RELIABILITY_STORED(nic, buffer) CALL(nic, BIT_RELIABILITY, reliability_stored(nic, buffer))
#else
#define RELIABILITY_STORED(nic, buffer) ((void)0)
#endif
#define AT_STORED(nic, buffer) \
    do { \
        RELIABILITY_STORED(nic, buffer); \
    } while (0)

#endif
