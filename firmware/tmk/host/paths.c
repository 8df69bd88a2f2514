/* Cost of each step of TreadMarks on the host's CPU, apart from copies, faults, signals and system calls. One function is one
 * path; the rules are in pymodels/costs/README.md. */
#include "paths.h"

enum { NODES = 8 };

struct interval { struct interval *next; u32 process, index, vector[NODES], first; };
struct diff { struct diff *next; u32 process, first, last, bytes; };
struct page { u32 right, twin, since, whole, have[NODES], pending[NODES]; struct diff *diffs; };
struct lock { u32 here, last, held, next; };
struct message { u32 place, number, sequence, bytes; };
struct tmk { u32 me, base, pages, vector[NODES], inside, late, arrived; struct interval *known[NODES]; struct page page[16]; };

/* Handle a page fault: find the page and its right. */
u32 tmk_fault(struct tmk *tmk, u32 address, u32 write) {
    u32 number = (address - tmk->base) >> 12;
    struct page *page;
    if (UNLIKELY(number >= tmk->pages)) {
        OFF_PATH("no shared memory");
        return 0;
    }
    tmk->inside = tmk->inside + 1;
    page = &tmk->page[number];
    if (UNLIKELY(page->right == 0)) {
        OFF_PATH("it is not valid");
        return 0;
    }
    page->since = tmk->vector[tmk->me] + 1;
    return write & page->right;
}

/* Build or decode the header of a message. */
u32 tmk_message(struct message *message, u32 kind, u32 from, u32 number, u32 sequence, u32 bytes) {
    if (UNLIKELY(bytes > 32752)) {
        OFF_PATH("it goes in parts");
        return 0;
    }
    message->place = BE32(kind << 24 | from << 16 | 1);
    message->number = BE32(number);
    message->sequence = BE32(sequence);
    message->bytes = BE32(bytes);
    return kind >> 4;
}

/* Copy 32 bytes. */
u32 *tmk_copy(u32 *to, const u32 *from, const u32 *end) {
    eight_words(to, from);
    if (UNLIKELY(from + 8 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return to + 8;
}

/* Compare 32 bytes of a page with its twin. */
const u32 *tmk_compare(const u32 *page, const u32 *twin, const u32 *end) {
    if (UNLIKELY(page[0] != twin[0] || page[1] != twin[1] || page[2] != twin[2] || page[3] != twin[3])) {
        OFF_PATH("a change");
        return page;
    }
    if (UNLIKELY(page[4] != twin[4] || page[5] != twin[5] || page[6] != twin[6] || page[7] != twin[7])) {
        OFF_PATH("a change");
        return page + 4;
    }
    if (UNLIKELY(page + 8 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return page + 8;
}

/* Write or apply a run of a diff, or 32 bytes of one. */
u32 *tmk_run(u32 *to, const u32 *from, u32 offset, u32 words) {
    to[0] = BE32(offset << 16 | words);
    eight_words(to + 1, from);
    LOOP_AGAIN();
    return to + 9;
}

/* Test one diff of a page. */
struct diff *tmk_find(struct diff *diff, u32 process, u32 after, u32 last) {
    if (LIKELY(diff->process == process && diff->last > after && diff->first <= last)) {
        LOOP_AGAIN();
        return diff->next;
    }
    OFF_PATH("not this one");
    return 0;
}

/* Create or record an interval. */
void tmk_interval(struct tmk *tmk, struct interval *interval, const u32 *vector, u32 process, u32 index) {
    interval->process = process;
    interval->index = index;
    interval->vector[0] = vector[0];
    interval->vector[1] = vector[1];
    interval->vector[2] = vector[2];
    interval->vector[3] = vector[3];
    interval->vector[4] = vector[4];
    interval->vector[5] = vector[5];
    interval->vector[6] = vector[6];
    interval->vector[7] = vector[7];
    interval->next = tmk->known[process];
    tmk->known[process] = interval;
    tmk->vector[process] = index;
}

/* Record one notice of an interval. */
u32 tmk_notice(struct page *page, u32 process, u32 index) {
    if (UNLIKELY(page->have[process] >= index)) {
        OFF_PATH("it is here");
        return 0;
    }
    page->pending[process] = index;
    LOOP_AGAIN();
    return page->twin;
}

/* Test whether a lock is here and requested by another process. */
u32 tmk_lock(struct tmk *tmk, struct lock *locks, u32 number) {
    struct lock *lock = &locks[number];
    if (UNLIKELY(number >= 1024 || lock->held)) {
        OFF_PATH("not so");
        return 0;
    }
    tmk->inside = tmk->inside + 1;
    lock->held = 1;
    return lock->here & !lock->next;
}

/* Record an arrival at a barrier. */
u32 tmk_barrier(struct tmk *tmk, u32 from, u32 number, u32 *at) {
    if (UNLIKELY(number >= 64)) {
        OFF_PATH("no such barrier");
        return 0;
    }
    at[from] = number;
    tmk->arrived = tmk->arrived + 1;
    return tmk->arrived;
}
