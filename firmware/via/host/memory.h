/* Kernel: memory and VIs. */

/* VipRegisterMem: find a free entry of the table of regions. */
u32 register_region(struct kernel *kernel, struct region *free, u32 process, u32 va, u32 size, u32 tag, u32 serial) {
    if (UNLIKELY(size == 0) || UNLIKELY(va + size < va) || UNLIKELY(!free)) {
        OFF_PATH("not possible");
        return 0;
    }
    take_lock(&kernel->lock);
    free->process = process;
    free->va = va;
    free->size = size;
    free->tag = tag;
    free->first_page = va >> PAGE_BITS;
    free->handle = serial << 12 | (u32)free - (u32)kernel->regions;
    give_lock(&kernel->lock);
    return free->handle;
}

/* Pin each page of a region, and enter it into the region's table. */
u32 *register_page(u32 *entry, u32 *page_table_entry, u32 *frame_database, u32 process) {
    u32 word = *page_table_entry, frame = word >> PAGE_BITS, *count = &frame_database[6 * frame];
    if (UNLIKELY(!(word & 1)) || UNLIKELY(!(word & 4))) {
        OFF_PATH("not present, or not the user's");
        return 0;
    }
    LOCKED_ADD(count, 1);
    count[1] = process;
    *entry = word & ~0xFFFu;
    LOOP_AGAIN();
    return entry + 1;
}

/* VipCreateVi: find a free VI, and write its words. */
u32 create_vi(struct kernel *kernel, struct vi *free, u32 process, u32 tag, u32 most, u32 reliability) {
    if (UNLIKELY(!free) || UNLIKELY(most > 65536)) {
        OFF_PATH("not possible");
        return 0;
    }
    take_lock(&kernel->lock);
    free->process = process;
    free->tag = tag;
    free->most = most;
    free->reliability = reliability;
    free->state = 0;
    free->generation = free->generation + 1;
    free->sleepers = 0;
    PIO_WRITE(BE32(reliability));
    PIO_WRITE(BE32(free->generation << 8));
    give_lock(&kernel->lock);
    return free->number;
}

/* VipDestroyVi. */
u32 destroy_vi(struct kernel *kernel, struct vi *vi, u32 process) {
    if (UNLIKELY(vi->process != process) || UNLIKELY(vi->state == CONNECTED)) {
        OFF_PATH("not possible");
        return 1;
    }
    take_lock(&kernel->lock);
    vi->process = 0;
    give_lock(&kernel->lock);
    return 0;
}

/* VipCreateCQ: find a free number, and allocate a page for the entries. */
u32 create_queue(struct kernel *kernel, u32 *queues, u32 number, u32 process, u32 page, u32 entries) {
    u32 *one = &queues[4 * number];
    if (UNLIKELY(entries == 0) || UNLIKELY(entries > 1024) || UNLIKELY(one[0] != 0)) {
        OFF_PATH("not possible");
        return 0;
    }
    take_lock(&kernel->lock);
    one[0] = process;
    one[1] = page;
    one[2] = entries;
    PIO_WRITE(BE32(page));
    PIO_WRITE(BE32(entries));
    give_lock(&kernel->lock);
    return number;
}

/* VipDestroyCQ. */
u32 destroy_queue(struct kernel *kernel, u32 *queues, u32 number, u32 process) {
    u32 *one = &queues[4 * number];
    if (UNLIKELY(one[0] != process) || UNLIKELY(one[3] != 0)) {
        OFF_PATH("in use");
        return 1;
    }
    take_lock(&kernel->lock);
    one[0] = 0;
    give_lock(&kernel->lock);
    return 0;
}

/* Put a thread to sleep until a descriptor is complete. */
u32 sleep_in_kernel(struct kernel *kernel, struct vi *vi, struct descriptor *descriptor, u32 thread, u32 *sleeper, u32 side) {
    take_lock(&kernel->lock);
    sleeper[0] = vi->sleepers;
    sleeper[1] = thread;
    sleeper[2] = (u32)descriptor;
    sleeper[3] = side;
    vi->sleepers = (u32)sleeper;
    give_lock(&kernel->lock);
    PIO_WRITE(BE32(side));
    if (UNLIKELY(SHARED32(&descriptor->status) != 0)) {
        OFF_PATH("it is done");
        return 1;
    }
    return 0;
}
