/* What a paths.c may use. The rules are in pymodels/costs/README.md.
 *
 * A path is one plain C function: the likely, straight-line code of one step. It is compiled for the real processor and
 * its instructions, loads and stores are counted (python -m pymodels.costs.compile). With EXECUTED the same text is a part
 * of firmware that a LANai executes (firmware/runtime/README.md): the marks of the count become what they stand for.
 */
#ifndef SANLAB_PATHS_H
#define SANLAB_PATHS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef union { u32 word[2]; double both; } u64_words;

/* Which way an `if` goes on this path. The compiler then lets the likely side fall through, and so does the count. */
#define LIKELY(x) __builtin_expect_with_probability(!!(x), 1, 1.0)
#define UNLIKELY(x) __builtin_expect_with_probability(!!(x), 0, 1.0)

#ifdef EXECUTED
#include "lanai.h"
#elif defined(__lanai__)
#define PATHS_MARK "!@"
#define PATHS_REGISTER_LOAD "ld 0[%%r0], %0"
#elif defined(__powerpc__)
#define PATHS_MARK "#@"
#define PATHS_REGISTER_LOAD "lwz %0, 0(0)"
#else
#define PATHS_MARK "#@"
#endif

#ifndef EXECUTED
/* First statement of a block that is not on the path: the count never enters it and takes the branch round it. */
#define OFF_PATH(why) __asm__ volatile(PATHS_MARK "off " why)

/* End of a path that is one turn of a loop: the jump back, counted (on the LANai with its delay slot). */
#define LOOP_AGAIN() __asm__ volatile(PATHS_MARK "again" ::: "memory")
#endif

/* NIC: special registers. Each counts as one uncached access.
 * REGISTER_SAMPLE: the load is an instruction of the path: the sample of a polling step (`Watch(register=True)`).
 * REGISTER_READ, REGISTER_WRITE: the instruction itself is issued, and charged, by the verb `read` or `write` that follows. */
#ifdef EXECUTED
#define PATHS_NIC
#define OFF_PATH(why) ((void)0)
#define LOOP_AGAIN() ((void)0)
#define REGISTER_READ(name) (*(volatile u32 *)REGISTER_##name)
#define REGISTER_SAMPLE(name) REGISTER_READ(name)
#define REGISTER_WRITE(name, value) \
    do { \
        __asm__ volatile("" ::: "memory"); \
        *(volatile u32 *)REGISTER_##name = WRITTEN_##name((u32)(value)); \
    } while (0)
#elif defined(__lanai__) || (defined(__powerpc__) && !defined(PATHS_HOST))
#define PATHS_NIC
#define REGISTER_SAMPLE(name) \
    ({ u32 paths_value; __asm__ volatile(PATHS_MARK "sample " #name "\n\t" PATHS_REGISTER_LOAD : "=r"(paths_value)); paths_value; })
#define REGISTER_READ(name) \
    ({ u32 paths_value; __asm__ volatile(PATHS_MARK "read " #name " %0" : "=r"(paths_value)); paths_value; })
#define REGISTER_WRITE(name, value) \
    do { __asm__ volatile(PATHS_MARK "write " #name " %0" : : "r"((u32)(value)) : "memory"); } while (0)
#endif

/* SP adapter: two registers, or two words of memory, on 8 bytes are one access of the 64-bit internal bus, through a register of
 * the floating-point unit. The verbs give the model's port both halves. */
#if defined(__powerpc__) && !defined(PATHS_HOST)
#define PATHS_SP_ADAPTER
#define REGISTER_READ64(name) \
    ({ u64_words paths_pair; __asm__ volatile(PATHS_MARK "read " #name " %0" : "=f"(paths_pair.both)); paths_pair; })
#define REGISTER_WRITE64(name, first, second) \
    do { \
        u64_words paths_pair = {{(u32)(first), (u32)(second)}}; \
        __asm__ volatile(PATHS_MARK "write " #name " %0" : : "f"(paths_pair.both) : "memory"); \
    } while (0)
#endif

/* Host: words that other threads or processors may change at once. LOCKED_EXCHANGE takes a lock: what stood there. LOCKED_ADD
 * adds. Each locks the cache line and counts as the host's uncached access. A PowerPC loads with a reservation and stores; the
 * branch back, where another was faster, is not taken on the path. */
#ifndef PATHS_NIC
#ifdef __powerpc__
#define PATHS_RESERVED(change) \
    PATHS_MARK "sample lock\n\tlwarx %0, 0, %1\n" change "\tstwcx. %2, 0, %1\n\tbne- 0, .Lagain%=\n.Lagain%=:"
#define LOCKED_EXCHANGE(at, value) \
    ({ u32 paths_value; __asm__ volatile(PATHS_RESERVED("") : "=&r"(paths_value) : "r"(at), "r"((u32)(value)) : "memory", "cr0"); paths_value; })
#define LOCKED_ADD(at, value) \
    do { \
        u32 paths_value, paths_sum = (value); \
        __asm__ volatile(PATHS_RESERVED("\tadd %2, %0, %2\n") : "=&r"(paths_value) : "r"(at), "r"(paths_sum) : "memory", "cr0"); \
    } while (0)
#else
#define LOCKED_EXCHANGE(at, value) \
    ({ u32 paths_value = (value); __asm__ volatile(PATHS_MARK "sample lock\n\txchgl %0, %1" : "+r"(paths_value), "+m"(*(at)) : : "memory"); paths_value; })
#define LOCKED_ADD(at, value) \
    do { __asm__ volatile(PATHS_MARK "sample lock\n\tlock addl %1, %0" : "+m"(*(at)) : "ri"((u32)(value)) : "memory"); } while (0)
#endif
#endif

/* Host: between two looks at a word that another processor will change. */
#ifndef PATHS_NIC
#ifdef __powerpc__
#define CPU_PAUSE() __asm__ volatile("nop")
#else
#define CPU_PAUSE() __asm__ volatile("pause")
#endif
#endif

/* Host: words that cross the PCI bus. They count nothing here: the verbs `pio_write`, `pio_copy`, `pio_read` take the time
 * of the bus. The marks make the path compute what is written and use what is read. */
#ifndef PATHS_NIC
#define PIO_WRITE(value) \
    do { __asm__ volatile(PATHS_MARK "pio_write %0" : : "r"((u32)(value)) : "memory"); } while (0)
#define PIO_READ() \
    ({ u32 paths_value; __asm__ volatile(PATHS_MARK "pio_read %0" : "=r"(paths_value) : : "memory"); paths_value; })
#endif

/* Host: 32 bytes of a copy from memory to memory. */
#ifndef PATHS_NIC
static inline __attribute__((always_inline)) void eight_words(u32 *target, const u32 *source) {
    target[0] = source[0];
    target[1] = source[1];
    target[2] = source[2];
    target[3] = source[3];
    target[4] = source[4];
    target[5] = source[5];
    target[6] = source[6];
    target[7] = source[7];
}
#endif

/* A word in network byte order, which is big-endian: itself on a NIC and a PowerPC, swapped (bswap) on an i686. */
#if defined(PATHS_NIC) || defined(__powerpc__)
#define BE32(value) ((u32)(value))
#else
#define BE32(value) __builtin_bswap32(value)
#endif

/* Such words in memory. */
static inline __attribute__((always_inline)) u32 be32_load(const u32 *at) { return BE32(*at); }

static inline __attribute__((always_inline)) void be32_store(u32 *at, u32 value) { *at = BE32(value); }

/* Memory that somebody else changes (the host, a DMA): read or written exactly where it stands, never kept in a register. On
 * the SP adapter no cache keeps it: the access counts as uncached. */
#ifdef PATHS_SP_ADAPTER
#define SHARED_AS(type, at) (*({ __asm__ volatile(PATHS_MARK "shared"); (volatile type *)(at); }))
#define SHARED32(at) SHARED_AS(u32, at)
#else
#define SHARED32(at) (*(volatile u32 *)(at))
#endif

/* Two such words that stand on 8 bytes: one access on the SP adapter, two loads elsewhere. */
static inline __attribute__((always_inline)) u64_words shared64(const u32 *at) {
    u64_words pair;
#ifdef PATHS_SP_ADAPTER
    pair.both = SHARED_AS(double, at);
#else
    pair.word[0] = SHARED32(at);
    pair.word[1] = SHARED32(at + 1);
#endif
    return pair;
}
#define SHARED64(at) shared64((const u32 *)(at))

#endif
