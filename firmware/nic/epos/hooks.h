/* The point-cuts of the NIC: at each one the selected protocols are called in the order of pointcuts.py, where frames come in
 * the reverse order; of the others nothing is left. A protocol that does not act at a point-cut is not named there. */
#ifndef EPOS_HOOKS_H
#define EPOS_HOOKS_H
#include "protocols/multicast.h"
#include "protocols/rendezvous.h"
#include "protocols/mtu.h"
#include "protocols/flow.h"
#include "protocols/reliability.h"
#include "protocols/active.h"

#define AT_TX_DONE(nic, bell) do { multicast_tx_done(nic, bell); } while (0)
#define AT_RX(nic, source, frame) \
    do { active_rx(nic, frame); reliability_rx(nic, source, frame); flow_rx(nic, source, frame); rendezvous_rx(nic, frame); } while (0)
#define AT_STORED(nic, buffer) do { reliability_stored(nic, buffer); } while (0)

#endif
