/* The words of a frame's header: those of the baseline, then one for each selected protocol that has one, in their order. */
#ifndef EPOS_HEADER_H
#define EPOS_HEADER_H

enum {
    EPOS_KEY, EPOS_NUMBER, EPOS_TOLD,
#ifdef WITH_ACTIVE
    EPOS_ACTIVE,
#endif
#ifdef WITH_MULTICAST
    EPOS_MULTICAST,
#endif
#ifdef WITH_RENDEZVOUS
    EPOS_RENDEZVOUS,
#endif
#ifdef WITH_FLOW
    EPOS_FLOW,
#endif
#ifdef WITH_PROTECTION
    EPOS_PROTECTION,
#endif
#ifdef WITH_MTU
    EPOS_MTU,
#endif
    HEADER_WORDS
};

/* The number of the composition, which its frames carry: a bit for each protocol. */
#ifdef WITH_ACTIVE
enum { HAS_ACTIVE = 1 };
#else
enum { HAS_ACTIVE = 0 };
#endif
enum { COMPOSITION = HAS_ACTIVE };

#endif
