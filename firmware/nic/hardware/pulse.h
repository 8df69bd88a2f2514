/* Host DMA of executed firmware, on any LANai: REGISTER_WRITE(PULSE, chains) starts chains. A LANai 9 does the rest; on a LANai
 * 4 the firmware looks for the end of each transfer, and begins the next one: DMA_SERVICE in its main loop; or DMA_START there, and
 * DMA_WOKE once ISR shows the bit of the DMA, which tells whether the block has one of the flags: a LANai 9 sets its bit for those only. */
#ifndef SANLAB_PULSE_H
#define SANLAB_PULSE_H
#include "paths.h"

#ifdef REGISTER_PULSE /* the host loads the first blocks of the chains, the engine follows them */

#define dma_list(chain, block) ((void)0)
#define DMA_SERVICE(look) ((void)0)
#define DMA_START() ((void)0)
#define DMA_WOKE(flags) 1

#else
#include "chains.h"

static struct engine engine;

/* What REGISTER_WRITE(PULSE, ...) writes: there is no such register. */
static volatile u32 pulsed;
#define REGISTER_PULSE (&pulsed)
#define WRITTEN_PULSE(value) (value)

/* The first block of a chain. */
static void dma_list(u32 chain, struct block *block) { engine.list[chain] = block; }

/* Chains were started: begin with the first. */
static void dma_start(void) {
    u32 chain = pulsed & 1 ? 0 : 2;
    pulsed = 0;
    dma_begin(&engine, chain);
}

/* A transfer is over; the flags of its block. */
static u32 dma_over(void) {
    struct block *next = (struct block *)(engine.at->next & ~7u);
    return next->next & TERMINAL ? dma_last(&engine) : dma_next(&engine);
}

#define DMA_START() \
    do { \
        if (pulsed) dma_start(); \
    } while (0)
#define DMA_WOKE(flags) (dma_over() & (flags))
#define DMA_SERVICE(look) \
    do { \
        DMA_START(); \
        if (look(ISR_DMA)) dma_over(); \
    } while (0)
#endif
#endif
