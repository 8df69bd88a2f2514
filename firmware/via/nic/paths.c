/* Costs of VIA's steps on the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * Queue caches, the words of VIs and of the kernel are shared with the host; the rest is the firmware's own. */
#include "memory.h"
#include "polling.h"
#include "caches.h"
#include "sending.h"
#include "completions.h"
#include "receiving.h"
#include "acknowledgements.h"
#include "rdma_writes.h"
#include "rdma_reads.h"
#include "doorbells.h"
#include "user_descriptors.h"
