/* Two paths for the host whose counts were made by hand from the assembly beside this file. */
#include "paths.h"

/* One look at a queue's back pointer that finds nothing. */
u32 look(const u32 *back, u32 seen) {
    if (UNLIKELY(SHARED32(back) != seen)) {
        OFF_PATH("a message");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* The first words of a header, in network byte order, and the queue's count. */
void build_header(u32 *header, u32 *queued, u32 destination, u32 words) {
    if (UNLIKELY(words > 16143)) {
        OFF_PATH("too long");
        return;
    }
    be32_store(&header[0], 0x06360000u | (*queued & 0xffu));
    be32_store(&header[1], words << 16 | destination);
    *queued += 1;
    PIO_WRITE(header[0]);
}
