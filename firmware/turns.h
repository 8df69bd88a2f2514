/* Turns of loops that the host libraries and NIC programs of several layers have. */
#ifndef SANLAB_TURNS_H
#define SANLAB_TURNS_H
#include "paths.h"

/* One turn of a loop that looks at a word until it is another one: that one; 0 as long as it stays. */
static inline __attribute__((always_inline)) u32 look_turn(u32 word, u32 before) {
    if (UNLIKELY(word != before)) {
        OFF_PATH("it has changed");
        return word;
    }
    LOOP_AGAIN();
    return 0;
}

/* Host: one turn of a loop that copies 32 bytes at a time up to `end`: where the next ones go; 0 after the last ones. */
#ifndef PATHS_NIC
static inline __attribute__((always_inline)) u32 *copy_turn(u32 *to, const u32 *from, const u32 *end) {
    eight_words(to, from);
    if (UNLIKELY(from + 8 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return to + 8;
}
#endif
#endif
