/* Written by `python -m firmware.epos.host.composer` from pointcuts.py and protocols/; do not edit. */
#ifndef EPOS_WORDS_H
#define EPOS_WORDS_H
#if IN_BUILD(HAS_MULTICAST)
#include "protocols/multicast.h"
#else
#define MULTICAST_WORDS
#endif
#if IN_BUILD(HAS_RENDEZVOUS)
#include "protocols/rendezvous.h"
#else
#define RENDEZVOUS_WORDS
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
#endif
#if IN_BUILD(HAS_ACTIVE)
#include "protocols/active.h"
#else
#define ACTIVE_WORDS
#endif

#define PROTOCOL_WORDS MULTICAST_WORDS RENDEZVOUS_WORDS FLOW_WORDS RELIABILITY_WORDS ACTIVE_WORDS

#endif
