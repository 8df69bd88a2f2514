/* What each step of the GRIM library costs on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "library.h"
#include "sending.h"
#include "polling.h"
#include "enabling.h"
#include "remote.h"
#include "multicast.h"
#include "filter.h"
#include "crc.h"
