/* Cost of each step of the GRIM library on the host's CPU: one function is one path, by the rules in
 * pymodels/costs/README.md. */
#include "library.h"
#include "sending.h"
#include "polling.h"
#include "enabling.h"
#include "remote.h"
#include "multicast.h"
#include "filter.h"
#include "crc.h"
