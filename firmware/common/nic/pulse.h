/* Host DMA of executed firmware, on any LANai: REGISTER_WRITE(PULSE, chains) starts chains. A LANai 9 executes them in hardware. On a
 * LANai 4 the firmware polls for the end of each transfer, and starts the next one: by DMA_SERVICE in its main loop, or by DMA_START
 * there and DMA_WOKE when ISR shows the bit of the DMA. DMA_WOKE tests flags of the finished block; a LANai 9 sets its bit for these only.
 * A program that addresses its variables by a register defines ENGINE as the engine among them. A program with chain 0 only defines
 * ENGINE_CHAIN. */
#ifndef SANLAB_PULSE_H
#define SANLAB_PULSE_H
#include "paths.h"

#ifdef REGISTER_PULSE /* the host loads the first blocks of the chains, which the engine follows */

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

/* Target of REGISTER_WRITE(PULSE, ...) on a LANai without this register. */
#define REGISTER_PULSE (&ENGINE->pulsed)
#define WRITTEN_PULSE(value) (value)

/* Set the first block of a chain. */
#define dma_list(chain, block) ((void)(ENGINE->list[chain] = (block)))

/* Start the first of the started chains. */
static void dma_start(struct engine *engine) {
    u32 chain = ENGINE_CHAIN(engine->pulsed);
    engine->pulsed = 0;
    dma_begin(engine, chain);
}

/* Handle the end of a transfer, and return the flags of its block. */
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
