/* Chains of control blocks on a LANai 4, executed by firmware: its engine has one transfer at a time. */
#ifndef SANLAB_CHAINS_H
#define SANLAB_CHAINS_H
#include "block.h"

enum { ISR_DMA = 0x10 };

/* `pulsed`: chains last started by executed firmware. */
struct engine { u32 running, chain; struct block *at, *list[4]; u32 pulsed; };

/* First of these chains. */
#ifndef ENGINE_CHAIN
#define ENGINE_CHAIN(chains) ((chains) & 1 ? 0 : 2)
#endif

/* Start the transfer of a block. */
static inline void begin(struct engine *engine, struct block *block, u32 chain, u32 next) {
    engine->at = block;
    engine->chain = chain;
    REGISTER_WRITE(EAR, block->eal);
    REGISTER_WRITE(LAR, block->lar);
    REGISTER_WRITE(DMA_DIR, next & 1);
    REGISTER_WRITE(DMA_CTR, (block->len + 3) & ~3u);
}

/* Start a chain while the engine is idle. */
void dma_begin(struct engine *engine, u32 chain) {
    struct block *block = engine->list[chain];
    u32 next;
    engine->running |= 1u << chain;
    if (UNLIKELY(engine->at)) {
        OFF_PATH("the engine has a transfer");
        return;
    }
    next = SHARED32(&block->next);
    if (LIKELY(!(next & TERMINAL))) begin(engine, block, chain, next);
}

/* Queue a chain while the engine is busy. */
void dma_queue(struct engine *engine, u32 chain) {
    engine->running |= 1u << chain;
    if (UNLIKELY(!engine->at)) {
        OFF_PATH("the engine is idle");
        engine->chain = chain;
    }
}

/* Mark the block of the finished transfer. */
static inline u32 finished(struct engine *engine) {
    struct block *block = engine->at;
    u32 next = block->next;
    REGISTER_WRITE(ISR, ISR_DMA);
    SHARED32(&block->next) = next | TERMINAL;
    engine->list[engine->chain] = (struct block *)(next & ~7u);
    return next;
}

/* End of a transfer: start the next block of the same chain. */
u32 dma_next(struct engine *engine) {
    u32 flags = finished(engine), chain = ENGINE_CHAIN(engine->running), next;
    struct block *block = engine->list[chain];
    next = SHARED32(&block->next);
    if (LIKELY(!(next & TERMINAL))) begin(engine, block, chain, next);
    return flags;
}

/* End of a transfer: no block waits. */
u32 dma_last(struct engine *engine) {
    u32 flags = finished(engine), chain = ENGINE_CHAIN(engine->running);
    if (LIKELY(SHARED32(&engine->list[chain]->next) & TERMINAL)) {
        engine->running &= ~(1u << chain);
        engine->at = 0;
    }
    return flags;
}

#endif
