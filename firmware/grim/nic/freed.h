/* A path of remote.py that NIs without remote memory need too. */
/* A block is freed: what waits is looked up anew, and the driver told behind the DMA that is under way. */
void translate_freed(struct ni *ni) {
    struct job *job = ni->parked;
    u32 freed = SHARED32(ni->freed_word);
    ni->freed = freed;
    if (LIKELY(job)) {
        job->piece = 0;
        job->lock_piece = 0;
    }
    ni->block_tail = post_word(ni, ni->block_tail, freed, SHARED32(ni->kernel) + 16, 0, 0);
    REGISTER_WRITE(PULSE, 1);
}
