/* Two paths for the LANai whose counts were made by hand from the assembly beside this file. */
#include "paths.h"

struct channel {
    u32 front, next, back, base;
};

/* One step of a search: look at a channel's back pointer, nothing new, go on. */
struct channel *scan_channel(struct channel *channel, u32 seen) {
    if (UNLIKELY(SHARED32(&channel->back) != seen)) {
        OFF_PATH("a new message");
        return 0;
    }
    LOOP_AGAIN();
    return channel + 1;
}

/* Hand a message to the send engine when it is idle; note it on the scoreboard; the odd word is the usual case. */
void start_send(u32 *scoreboard, u32 start, u32 words) {
    u32 end = start + 4 * words;
    if (LIKELY(words & 1)) {
        end += 4;
    } else {
        OFF_PATH("no padding");
        scoreboard[3] = 0;
    }
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & 8)) {
        OFF_PATH("still sending");
        return;
    }
    REGISTER_WRITE(SMP, start);
    REGISTER_WRITE(SMLT, end);
    scoreboard[0] = start;
    scoreboard[1] = words;
}
