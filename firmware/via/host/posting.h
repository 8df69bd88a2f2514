/* Kernel: posting of a descriptor. */

/* Check the request, find the VI, take the lock. */
static inline __attribute__((always_inline)) struct vi *enter(struct kernel *kernel, struct request *request, u32 process, u32 *lock) {
    struct vi *vi;
    if (UNLIKELY(request->length < sizeof *request) || UNLIKELY(request->code != 0x80001)) {
        OFF_PATH("no such request");
        return 0;
    }
    if (UNLIKELY(request->vi >= kernel->vi_count)) {
        OFF_PATH("no such VI");
        return 0;
    }
    vi = &kernel->vis[request->vi];
    if (UNLIKELY(vi->process != process)) {
        OFF_PATH("not its VI");
        return 0;
    }
    take_lock(lock);
    return vi;
}

/* Fast I/O dispatch: device control of the file object, its code and the lengths of its buffers. The request is probed and
 * copied from user space. */
static inline __attribute__((always_inline)) u32 dispatch(const u32 *file, const u32 *stack, struct request *copy) {
    const struct request *user = (const struct request *)stack[1];
    if (UNLIKELY(file[3] == 0) || UNLIKELY(stack[2] < sizeof *copy) || UNLIKELY(stack[5] != 0x80001)) {
        OFF_PATH("not ours");
        return 1;
    }
    if (UNLIKELY((u32)user & 3) || UNLIKELY((u32)user + sizeof *copy > 0x7FFF0000) || UNLIKELY((u32)user + sizeof *copy < (u32)user)) {
        OFF_PATH("not in user space");
        return 1;
    }
    copy->code = user->code;
    copy->process = file[3];
    copy->length = stack[2];
    copy->vi = user->vi;
    copy->descriptor = user->descriptor;
    copy->handle = user->handle;
    copy->side = user->side;
    return 0;
}

/* Probe a descriptor with one segment and copy it from user space, which protects against later changes. */
static inline __attribute__((always_inline)) u32 copy_in(struct descriptor *copy, const struct descriptor *user) {
    if (UNLIKELY((u32)user & 63) || UNLIKELY((u32)user + sizeof *user > 0x7FFF0000)) {
        OFF_PATH("not in user space");
        return 1;
    }
    (void)SHARED32(&user->status);
    copy->next = SHARED32(&user->next);
    copy->next_handle = SHARED32(&user->next_handle);
    copy->count_control = SHARED32(&user->count_control);
    copy->immediate = SHARED32(&user->immediate);
    copy->length = SHARED32(&user->length);
    copy->status = SHARED32(&user->status);
    copy->address = SHARED32(&user->address);
    copy->handle = SHARED32(&user->handle);
    copy->size = SHARED32(&user->size);
    return 0;
}

/* Find a region by its handle, and check process, tag and range. */
static inline __attribute__((always_inline)) struct region *region_of(struct kernel *kernel, struct vi *vi, u32 handle, u32 va, u32 size) {
    struct region *region = &kernel->regions[handle & 0xFFF];
    if (UNLIKELY((handle & 0xFFF) >= kernel->region_count) || UNLIKELY(region->handle != handle)) {
        OFF_PATH("no such region");
        return 0;
    }
    if (UNLIKELY(region->process != vi->process) || UNLIKELY(region->tag != vi->tag)) {
        OFF_PATH("another tag");
        return 0;
    }
    if (UNLIKELY(va < region->va) || UNLIKELY(va + size > region->va + region->size) || UNLIKELY(va + size < va)) {
        OFF_PATH("beyond it");
        return 0;
    }
    return region;
}

static inline __attribute__((always_inline)) u32 physical(struct region *region, u32 va) {
    return region->frames[(va >> PAGE_BITS) - region->first_page] | (va & (1u << PAGE_BITS) - 1);
}

/* Write the control words of a descriptor with one segment to the NIC, and record it in the kernel. */
static inline __attribute__((always_inline)) u32 post(struct kernel *kernel, struct vi *vi, struct cache *cache, struct request *request, u32 kind, u32 time, struct descriptor *descriptor, u32 *physical_descriptor) {
    struct region *home = region_of(kernel, vi, request->handle, request->descriptor, CONTROL_BYTES + SEGMENT_BYTES);
    struct posted *posted = vi->free, *newest = vi->newest;
    u32 word, size, va, words = 5, tail = cache->tail;
    if (UNLIKELY(!home) || UNLIKELY(copy_in(descriptor, (struct descriptor *)request->descriptor))) {
        OFF_PATH("the descriptor is not in registered memory");
        return 1;
    }
    word = be32_load(&descriptor->count_control);
    if (UNLIKELY(word & 0xFFF0) || UNLIKELY(word >> 16 != 1)) {
        OFF_PATH("another format");
        return 1;
    }
    size = be32_load(&descriptor->size);
    va = be32_load(&descriptor->address);
    if (UNLIKELY(size > vi->most) || UNLIKELY(vi->state == ERROR)) {
        OFF_PATH("too long, or broken");
        return 1;
    }
    if (UNLIKELY(cache->waiting) || UNLIKELY(tail - cache->head > cache->size - words) || UNLIKELY(!posted)) {
        OFF_PATH("the cache is full");
        return 2;
    }
    vi->free = posted->next;
    newest->next = posted;
    vi->newest = posted;
    posted->descriptor = (struct descriptor *)request->descriptor;
    posted->region = be32_load(&descriptor->handle);
    posted->end = tail + words;
    posted->time = time;
    cache->tail = tail + words;
    SHARED32(&physical_descriptor[0]) = BE32(kind << 30 | vi->number << 21 | 1);
    SHARED32(&physical_descriptor[1]) = BE32(physical(home, request->descriptor));
    SHARED32(&physical_descriptor[2]) = BE32(size);
    PIO_WRITE(SHARED32(&physical_descriptor[0]));
    PIO_WRITE(SHARED32(&physical_descriptor[1]));
    PIO_WRITE(SHARED32(&physical_descriptor[2]));
    PIO_WRITE(BE32(tail + words));
    return va;
}

/* Post in the kernel: into the central send queue, or into the VI's receive queue cache. */
static inline __attribute__((always_inline)) u32 served(struct kernel *kernel, const u32 *file, u32 *stack, u32 process, u32 time, u32 send) {
    struct request request;
    struct descriptor descriptor;
    struct vi *vi;
    u32 built[5], result;
    if (UNLIKELY(dispatch(file, stack, &request))) {
        OFF_PATH("refused");
        return 1;
    }
    vi = enter(kernel, &request, process, &kernel->sends.lock);
    result = post(kernel, vi, send ? &kernel->sends : &vi->receives, &request, send ? DEVICE_SEND : 0, time, &descriptor, built);
    give_lock(&kernel->sends.lock);
    stack[7] = 0;
    stack[8] = 0;
    return result;
}

/* VipPostSend in the kernel. */
u32 post_send(struct kernel *kernel, const u32 *file, u32 *stack, u32 process, u32 time) {
    return served(kernel, file, stack, process, time, 1);
}

/* VipPostRecv in the kernel. */
u32 post_receive(struct kernel *kernel, const u32 *file, u32 *stack, u32 process, u32 time) {
    return served(kernel, file, stack, process, time, 0);
}

/* Translate each page of a segment. */
u32 post_page(struct kernel *kernel, struct vi *vi, u32 handle, u32 va, u32 size) {
    struct region *region = region_of(kernel, vi, handle, va, size);
    u32 part = (1u << PAGE_BITS) - (va & (1u << PAGE_BITS) - 1);
    if (LIKELY(part > size)) part = size;
    PIO_WRITE(BE32(physical(region, va)));
    PIO_WRITE(BE32(part));
    return size - part;
}

/* Write an inline message: its words instead of their address. */
void post_inline(const u32 *data) {
    PIO_WRITE(data[0]);
    PIO_WRITE(data[1]);
}

/* Post a rejected descriptor, whose error status the NIC writes in its turn. */
u32 post_refused(struct kernel *kernel, struct request *request, u32 process, u32 status) {
    struct vi *vi = enter(kernel, request, process, &kernel->sends.lock);
    struct region *home = region_of(kernel, vi, request->handle, request->descriptor, CONTROL_BYTES);
    struct posted *posted = vi->free;
    u32 tail = vi->receives.tail;
    if (UNLIKELY(!home) || UNLIKELY(!posted)) {
        OFF_PATH("the descriptor is not in registered memory");
        return 1;
    }
    vi->free = posted->next;
    vi->newest->next = posted;
    vi->newest = posted;
    posted->descriptor = (struct descriptor *)request->descriptor;
    posted->region = request->handle;
    posted->end = tail + 3;
    vi->receives.tail = tail + 3;
    PIO_WRITE(BE32(vi->number << 21 | 1 << 20));
    PIO_WRITE(BE32(physical(home, request->descriptor)));
    PIO_WRITE(BE32(status));
    PIO_WRITE(BE32(tail + 3));
    give_lock(&kernel->sends.lock);
    return vi->number;
}
