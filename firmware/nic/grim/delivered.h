/* The host DMA has ended something, or much of a long message has arrived: the steps of dma_ends.py and cutting.py. */

/* The oldest block has ended. */
static void block_ended(struct ni *ni) {
    struct queued *queued = &ni->queued[ni->block_done];
    ni->block_done = (ni->block_done + 1) & ni->block_mask;
    if (queued->frees) release(ni, queued->frees);
    queued->frees = 0;
}

static void blocks_ended(struct ni *ni) {
    u32 under_way = (ni->block_tail - ni->block_done) & ni->block_mask;
    if (LIKELY(under_way >= 2 && ni->queued[(ni->block_done + 1) & ni->block_mask].frees)) {
        dma_done(ni);
    } else {
        REGISTER_WRITE(ISR, ISR_WAKE);
    }
    while (ni->block_done != ni->block_tail && SHARED32(&ni->block[ni->block_done].next) & TERMINAL) block_ended(ni);
    if (report_end && (report_end - 1 - ni->block_done & ni->block_mask) >= (ni->block_tail - ni->block_done & ni->block_mask)) report_end = 0;
    if (ni->early_offset) early_piece(ni);
}

/* The word that a long message changes has changed: its first part goes to the host, if it will be accepted. */
static void covered(struct ni *ni, struct buffer *buffer, u32 *expected) {
    if (!early_nothing(ni, buffer, buffer->sentinel, expected)) return;
    if (*expected == SENTINEL || ni->early_offset || buffer->data->w0 >> 16 != GRIM_ID || !is_of_stream(ni, buffer->data)) return;
    if (early_look(ni)) early_piece(ni);
}
