/* Host DMA of executed firmware, on any LANai: REGISTER_WRITE(PULSE, chains) starts chains. A LANai 9 does the rest; on a LANai
 * 4 the firmware looks for the end of each transfer, and begins the next one: DMA_SERVICE in its main loop; or DMA_START there, and
 * DMA_WOKE once ISR shows the bit of the DMA, which tells whether the block has one of the flags: a LANai 9 sets its bit for those only.
 * A program whose variables are reached by a register has the engine among them, and says how: ENGINE. One that has chain 0 alone says
 * ENGINE_CHAIN. */
#ifndef SANLAB_PULSE_H
#define SANLAB_PULSE_H
#include "paths.h"

#ifdef REGISTER_PULSE /* the host loads the first blocks of the chains, the engine follows them */

struct engine { u32 none[0]; };
#define dma_list(chain, block) ((void)0)
#define DMA_SERVICE(look) ((void)0)
#define DMA_START() ((void)0)
#define DMA_WOKE(flags) 1

#else
#include "chains.h"

#ifndef ENGINE
static struct engine engine;
#define ENGINE (&engine)
#endif

/* What REGISTER_WRITE(PULSE, ...) writes: there is no such register. */
#define REGISTER_PULSE (&ENGINE->pulsed)
#define WRITTEN_PULSE(value) (value)

/* The first block of a chain. */
#define dma_list(chain, block) ((void)(ENGINE->list[chain] = (block)))

/* Chains were started: begin with the first. */
static void dma_start(struct engine *engine) {
    u32 chain = ENGINE_CHAIN(engine->pulsed);
    engine->pulsed = 0;
    dma_begin(engine, chain);
}

/* A transfer is over; the flags of its block. */
static u32 dma_over(struct engine *engine) {
    struct block *next = (struct block *)(engine->at->next & ~7u);
    return next->next & TERMINAL ? dma_last(engine) : dma_next(engine);
}

#define DMA_START() \
    do { \
        if (ENGINE->pulsed) dma_start(ENGINE); \
    } while (0)
#define DMA_WOKE(flags) (dma_over(ENGINE) & (flags))
#define DMA_SERVICE(look) \
    do { \
        DMA_START(); \
        if (look(ISR_DMA)) dma_over(ENGINE); \
    } while (0)
#endif
#endif
