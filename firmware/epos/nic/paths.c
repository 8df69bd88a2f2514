/* What each step of EPOS costs the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * A path calls the protocols at its point-cut by AT_...; of those that are not selected nothing is left (hooks.h). */
#include "state.h"
#include "hooks.h"

/* One look at the word that tells that the driver is there. */
u32 epos_look_ready(const u32 *staging) { return look_turn(SHARED32(staging), 0); }

/* One look at the bits of ISR: the engines, and the doorbell FIFO. */
u32 epos_look(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("something has happened");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the next word of the Tx FIFO Queue, where it is in memory. */
u32 epos_look_bell(const u32 *bell) { return look_turn(SHARED32(bell), 0); }

/* One look at what a frame waits for in the Receive Ring. */
u32 epos_look_freed(const u32 *freed, u32 before) { return look_turn(SHARED32(freed), before); }

/* Which bit is it? Not this one. */
u32 epos_which(u32 flags, u32 mask) {
    if (UNLIKELY(flags & mask)) {
        OFF_PATH("this one");
        return 1;
    }
    return flags;
}

#include "sending.h"
#include "receiving.h"
