/* Cost of each step of TPIL on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md.
 * Stores of more than a word to the card are written as non-temporal stores and count as instructions, too. */
#include "paths.h"

typedef long long mmx __attribute__((vector_size(8)));
typedef float sse __attribute__((vector_size(16)));

struct cutoff { u32 first, method; };
struct device { u32 window, bytes; struct cutoff aligned[8], askew[8]; };
struct page { u32 frame, count; };

/* tpil_h2c: check the range, choose the method by the cut-offs. */
u32 h2c(const struct device *device, u32 target, u32 source, u32 bytes) {
    const struct cutoff *cutoff = device->aligned;
    if (UNLIKELY(target + bytes > device->bytes || !bytes)) {
        OFF_PATH("bad argument");
        return 0;
    }
    if (UNLIKELY((target ^ source) & 7)) {
        OFF_PATH("askew");
        cutoff = device->askew;
    }
    if (UNLIKELY(bytes < cutoff[1].first)) {
        OFF_PATH("the first");
        return cutoff[0].method;
    }
    if (UNLIKELY(bytes >= cutoff[2].first)) {
        OFF_PATH("the third");
        return cutoff[2].method;
    }
    return cutoff[1].method;
}

/* Store 32 bytes word by word. */
void copy_words(const u32 *source) {
    PIO_WRITE(source[0]);
    PIO_WRITE(source[1]);
    PIO_WRITE(source[2]);
    PIO_WRITE(source[3]);
    PIO_WRITE(source[4]);
    PIO_WRITE(source[5]);
    PIO_WRITE(source[6]);
    PIO_WRITE(source[7]);
    LOOP_AGAIN();
}

/* Store 32 bytes from MMX registers. */
void copy_mmx(mmx *target, const mmx *source) {
    __builtin_ia32_movntq(target, source[0]);
    __builtin_ia32_movntq(target + 1, source[1]);
    __builtin_ia32_movntq(target + 2, source[2]);
    __builtin_ia32_movntq(target + 3, source[3]);
    LOOP_AGAIN();
}

/* Store 32 bytes from SSE registers. */
void copy_sse(sse *target, const sse *source) {
    __builtin_nontemporal_store(source[0], target);
    __builtin_nontemporal_store(source[1], target + 1);
    LOOP_AGAIN();
}

/* Merge one to three bytes at an end of a transfer into the card's word. */
void edge_word(const u32 *source, u32 first, u32 bytes) {
    u32 mask = ((1u << 8 * bytes) - 1) << 8 * first;
    u32 word = PIO_READ();
    PIO_WRITE((word & ~mask) | (*source << 8 * first & mask));
}

/* Copy 32 bytes to the bounce buffer; the time of the memory is charged separately. */
void bounce_line(u32 *target, const u32 *source) {
    eight_words(target, source);
    LOOP_AGAIN();
}

/* Driver: look up and lock a page of the user's buffer. */
u32 lock_page(struct page **table, const u32 *directory, u32 address) {
    u32 entry = directory[address >> 22];
    struct page *page;
    if (UNLIKELY(!(entry & 1))) {
        OFF_PATH("no table");
        return 0;
    }
    page = table[entry >> 12] + (address >> 12 & 1023);
    if (UNLIKELY(!page->frame)) {
        OFF_PATH("no page");
        return 0;
    }
    page->count++;
    return page->frame | (address & 4095);
}

/* Driver: unlock a page. */
void unlock_page(struct page **table, const u32 *directory, u32 address) {
    table[directory[address >> 22] >> 12][address >> 12 & 1023].count--;
}

/* Driver: lock the card's registers or the bounce buffer. */
void take_card(u32 *lock) {
    while (UNLIKELY(LOCKED_EXCHANGE(lock, 1))) {
        OFF_PATH("another transfer");
    }
}

/* Driver: release the lock. */
void give_card(u32 *lock) {
    SHARED32(lock) = 0;
}

/* Driver: write source, target and size to the card's registers. */
void start_dma(u32 source, u32 target, u32 bytes) {
    PIO_WRITE(BE32(source));
    PIO_WRITE(BE32(target));
    PIO_WRITE(BE32(bytes));
}

/* Driver: one turn of the idle loop. */
u32 idle_turn(u32 left) {
    if (UNLIKELY(!--left)) {
        OFF_PATH("long enough");
        return 0;
    }
    LOOP_AGAIN();
    return left;
}

/* Driver: poll once for the end of the transfer. */
u32 look_dma(void) {
    if (UNLIKELY(PIO_READ())) {
        OFF_PATH("still at work");
        return 1;
    }
    return 0;
}
