/* Host memory as VIA's library and driver see it. */
#include "paths.h"

enum { DEVICE_SEND = 1, CONTROL_BYTES = 32, SEGMENT_BYTES = 16, PAGE_BITS = 12, CONNECTED = 1, ERROR = 2 };

struct descriptor {
    u32 next, next_handle, reserved, count_control, reserved_2, immediate, length, status;
    u32 address, reserved_3, handle, size;
};
struct region { u32 handle, process, va, size, tag, flags, first_page, *frames; };
enum { VI_MAGIC = 0x56495021, CQ_MAGIC = 0x43515021 };
struct queue { u32 magic, lock, posted, most; struct descriptor *oldest, *newest; u32 handle; };
struct cache { u32 tail, head, size, *base, waiting, lock, owner, irql; };
struct posted { struct posted *next; struct descriptor *descriptor; u32 end, region, time; };
struct vi {
    u32 process, tag, most, state, number, generation, reliability, peer;
    struct posted *free, *oldest, *newest;
    struct cache receives;
    u32 sleepers;
};
struct completions { u32 magic, lock, *place, *first, *end, round; };
struct request { u32 code, process, length, vi, descriptor, handle, side; };
struct kernel { struct region *regions; u32 region_count; struct cache sends; struct vi *vis; u32 vi_count, lock, interrupts, *events, event, nics; };

/* Lock of the kernel against other processors, for data that processes share. */
static inline __attribute__((always_inline)) void take_lock(u32 *lock) {
    while (UNLIKELY(LOCKED_EXCHANGE(lock, 1))) {
        OFF_PATH("another processor has it");
    }
}

static inline __attribute__((always_inline)) void give_lock(u32 *lock) {
    SHARED32(lock) = 0;
}
