/* Incoming RDMA writes. */

struct slot { u32 va, handle, size, vi; };

/* Check that a piece in the kernel's buffer may be written. */
struct region *check_write(struct kernel *kernel, struct slot *slot) {
    u32 word = be32_load(&slot->vi), handle = be32_load(&slot->handle);
    struct vi *vi = &kernel->vis[word & 0xFF];
    struct region *region = region_of(kernel, vi, handle, be32_load(&slot->va), be32_load(&slot->size));
    slot->vi = 0;
    if (UNLIKELY(!region) || UNLIKELY(!(region->flags & 1)) || UNLIKELY(vi->state != CONNECTED) || UNLIKELY((vi->generation ^ word >> 8) & 0x3FFFFF)) {
        OFF_PATH("not allowed");
        return 0;
    }
    PIO_WRITE(BE32(word));
    return region;
}

/* Copy 32 bytes. */
void copy_line(u32 *target, const u32 *source) {
    eight_words(target, source);
    LOOP_AGAIN();
}
