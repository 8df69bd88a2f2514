/* Costs of VIA's steps on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "host.h"
#include "library.h"
#include "posting.h"
#include "memory.h"
#include "interrupt.h"
#include "agent.h"
#include "writes.h"
#include "user_posting.h"
