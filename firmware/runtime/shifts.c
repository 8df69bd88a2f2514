/* Shifts of 64 bits, by 0 to 63, under the names that clang calls. */
#include "runtime.h"

static u64 whole(u32 high, u32 low) { return (u64)high << 32 | low; }

u64 __ashldi3(u64 a, int by) {
    u32 high = (u32)(a >> 32), low = (u32)a;
    if (by == 0) return a;
    if (by > 31) return whole(low << (by - 32), 0);
    return whole(high << by | low >> (32 - by), low << by);
}

u64 __lshrdi3(u64 a, int by) {
    u32 high = (u32)(a >> 32), low = (u32)a;
    if (by == 0) return a;
    if (by > 31) return whole(0, high >> (by - 32));
    return whole(high >> by, low >> by | high << (32 - by));
}

s64 __ashrdi3(s64 a, int by) {
    int high = (int)((u64)a >> 32);
    u32 low = (u32)a;
    if (by == 0) return a;
    if (by > 31) return (s64)whole((u32)(high >> 31), (u32)(high >> (by - 32)));
    return (s64)whole((u32)(high >> by), low >> by | (u32)high << (32 - by));
}
