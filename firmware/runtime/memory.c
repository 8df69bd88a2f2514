/* Functions that clang calls to copy and clear structures. They use words where both ends are aligned. */
#include "runtime.h"

void *memcpy(void *to, const void *from, size bytes) {
    u8 *t = to;
    const u8 *f = from;
    if ((((u32)t | (u32)f) & 3) == 0)
        for (; bytes > 3; bytes -= 4, t += 4, f += 4) *(u32 *)t = *(const u32 *)f;
    while (bytes--) *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size bytes) {
    u8 *t = to;
    while (bytes--) *t++ = (u8)value;
    return to;
}
