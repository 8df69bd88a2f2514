/* Written by `python -m firmware.epos.host.composer` from pointcuts.py and protocols/; do not edit. */
#ifndef EPOS_WORDS_H
#define EPOS_WORDS_H
#if IN_BUILD(HAS_RENDEZVOUS)
#include "protocols/rendezvous.h"
#else
#define RENDEZVOUS_WORDS
#endif
#if IN_BUILD(HAS_MTU)
#include "protocols/mtu.h"
#else
#define MTU_WORDS
#endif
#if IN_BUILD(HAS_FLOW)
#include "protocols/flow.h"
#else
#define FLOW_WORDS
#endif
#if IN_BUILD(HAS_RELIABILITY)
#include "protocols/reliability.h"
#else
#define RELIABILITY_WORDS
#define RELIABILITY_BUFFER
#endif
#if IN_BUILD(HAS_ACTIVE)
#include "protocols/active.h"
#else
#define ACTIVE_BUFFER
#endif
#if IN_BUILD(HAS_PROTECTION)
#include "protocols/protection.h"
#else
#define PROTECTION_WORDS
#define PROTECTION_BUFFER
#endif

#define PROTOCOL_WORDS RENDEZVOUS_WORDS MTU_WORDS FLOW_WORDS RELIABILITY_WORDS PROTECTION_WORDS
#define PROTOCOL_BUFFER RELIABILITY_BUFFER ACTIVE_BUFFER PROTECTION_BUFFER

#endif
