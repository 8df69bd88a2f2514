/* The point-cuts of the host: at each one the selected protocols are called in the order of pointcuts.py, where messages come in
 * the reverse order; of the others nothing is left. A protocol that does not act at a point-cut is not named there. */
#ifndef EPOS_HOOKS_H
#define EPOS_HOOKS_H
#include "protocols/multicast.h"
#include "protocols/rendezvous.h"
#include "protocols/flow.h"
#include "protocols/reliability.h"
#include "protocols/active.h"

#define AT_MESSAGE(epos, node, size) do { rendezvous_message(epos, size); flow_message(epos, node); } while (0)
#define AT_FRAME(epos, node) \
    do { \
        multicast_frame(epos); \
        rendezvous_frame(epos); \
        flow_frame(epos, node); \
        reliability_frame(epos); \
        active_frame(epos); \
    } while (0)
#define AT_SENT(epos, node) do { reliability_sent(epos, node); } while (0)
#define AT_ASSEMBLED(epos, size) do { rendezvous_assembled(epos, size); } while (0)
#define AT_COPIED(epos, source, taken) do { flow_copied(epos, source, taken); } while (0)

#endif
