/* Steps of dma_ends.py and cutting.py: a completed host DMA, and the arrival of a long message's first part. */

/* Process blocks beyond those in the path, one by one; then the next piece of a long message. */
static APART void more_ended(struct ni *ni) {
    while (ni->block_done != ni->block_tail && SHARED32(&ni->block[ni->block_done].next) & TERMINAL) {
        struct queued *queued = &ni->queued[ni->block_done];
        ni->block_done = (ni->block_done + 1) & ni->block_mask;
        if (queued->frees) release(ni, queued->frees);
    }
    if (ni->early_offset) early_piece(ni);
}

/* Process a data block and a word block, as in the path. */
static INLINED FLAT void blocks_ended(struct ni *ni) {
    if (LIKELY(((ni->block_tail - ni->block_done) & ni->block_mask) >= 2)) {
        dma_done(ni);
    } else {
        REGISTER_WRITE(ISR, ISR_WAKE_DONE);
    }
    if (UNLIKELY((ni->block_done ^ ni->block_tail) | ni->early_offset)) more_ended(ni);
}

/* Start the DMA of a long message's first part, if the message will be accepted. */
static APART void covered(struct ni *ni, struct buffer *buffer, u32 *expected) {
    if (!early_nothing(ni, buffer, buffer->sentinel, expected)) return;
    if (*expected == SENTINEL || ni->early_offset || buffer->data->w0 >> 16 != GRIM_ID || !is_of_stream(ni, buffer->data)) return;
    if (early_look(ni)) early_piece(ni);
}
