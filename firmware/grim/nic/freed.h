/* Path of remote.py that NIs without remote memory need too. */
/* Handle a freed block: repeat pending lookups, and confirm to the driver behind all DMA in progress. */
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
