/* Cost of each step of GRIM's NI firmware on the LANai: one function is one path, by the rules in
 * pymodels/costs/README.md. */
#include "ni.h"
#include "pieces.h"
#include "polling.h"
#include "sending.h"
#include "receiving.h"
#include "cards.h"
#include "answers.h"
#include "remote.h"
#include "timeouts.h"
#include "queues.h"
#include "buffering.h"
#include "multicast.h"
