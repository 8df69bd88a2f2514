/* Cost of each step of EPOS on the NIC's processor: one function is one path, by the rules in
 * pymodels/costs/README.md. A path calls the selected protocols at its point-cut by AT_...; protocols that are not
 * selected add no code (hooks.h). */
#include "state.h"
#include "hooks.h"

/* Poll the word that the driver writes when it is ready. */
u32 epos_look_ready(const u32 *staging) { return look_turn(SHARED32(staging), 0); }

/* Poll the bits of ISR: the engines, and the doorbell FIFO. */
u32 epos_look(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("something has happened");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Poll the next word of the Tx FIFO Queue in memory. */
u32 epos_look_bell(const u32 *bell) { return look_turn(SHARED32(bell), 0); }

/* Poll the word that a held frame waits for. */
u32 epos_look_freed(const u32 *freed, u32 before) { return look_turn(SHARED32(freed), before); }

/* Test one bit of ISR that is not set. */
u32 epos_which(u32 flags, u32 mask) {
    if (UNLIKELY(flags & mask)) {
        OFF_PATH("this one");
        return 1;
    }
    return flags;
}

#include "sending.h"
#include "receiving.h"
