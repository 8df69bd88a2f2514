/* Written by `python -m firmware.host.epos.composer` from pointcuts.py and protocols/; do not edit. */
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

#define AT_TX(nic, bell) ((void)0)

#if IN_BUILD(HAS_MULTICAST)
#define MULTICAST_TX_DONE(nic, bell) CALL(nic, BIT_MULTICAST, multicast_tx_done(nic, bell))
#else
#define MULTICAST_TX_DONE(nic, bell) ((void)0)
#endif
#define AT_TX_DONE(nic, bell) \
    do { \
        MULTICAST_TX_DONE(nic, bell); \
    } while (0)

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
