/* What each step of VIA costs the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"

enum { DEVICE_SEND = 1, CONTROL_BYTES = 32, SEGMENT_BYTES = 16, PAGE_BITS = 12, CONNECTED = 1, ERROR = 2 };

struct descriptor {
    u32 next, next_handle, reserved, count_control, reserved_2, immediate, length, status;
    u32 address, reserved_3, handle, size;
};
struct region { u32 handle, process, va, size, tag, flags, first_page, *frames; };
struct queue { u32 posted, most; struct descriptor *oldest, *newest; u32 handle; };
struct cache { u32 tail, head, size, *base, waiting, lock, owner, irql; };
struct posted { struct posted *next; struct descriptor *descriptor; u32 end, region, time; };
struct vi {
    u32 process, tag, most, state, number, generation, reliability, peer;
    struct posted *free, *oldest, *newest;
    struct cache receives;
    u32 sleepers;
};
struct request { u32 code, process, length, vi, descriptor, handle, side; };
struct kernel { struct region *regions; u32 region_count; struct cache sends; struct vi *vis; u32 vi_count, lock, interrupts, *events, event, nics; };

/* ---- the library */

/* Post: is there room in the work queue; link the descriptor to the one before; the request for the kernel. */
u32 post_user(struct queue *queue, struct descriptor *descriptor, u32 handle, u32 vi, struct request *request) {
    struct descriptor *before = queue->newest;
    u32 posted = queue->posted;
    if (UNLIKELY(posted >= queue->most)) {
        OFF_PATH("too many are posted");
        return 1;
    }
    be32_store(&descriptor->length, 0);
    be32_store(&descriptor->status, 0);
    be32_store(&before->next, (u32)descriptor);
    be32_store(&before->next_handle, handle);
    queue->newest = descriptor;
    queue->posted = posted + 1;
    request->code = 0x80001;
    request->vi = vi;
    request->descriptor = (u32)descriptor;
    request->handle = handle;
    request->length = sizeof *request;
    return 0;
}

/* VipSendDone, VipRecvDone: the status of the oldest descriptor. */
u32 look_done(struct queue *queue, struct descriptor **found) {
    struct descriptor *oldest = queue->oldest;
    *found = oldest;
    if (UNLIKELY(queue->posted == 0)) {
        OFF_PATH("nothing is posted");
        return 0;
    }
    return be32_load((const u32 *)&SHARED32(&oldest->status));
}

/* One look at a status, in a loop that calls VipSendDone or VipRecvDone. */
u32 look_status(struct queue *queue, struct descriptor **found) {
    struct descriptor *oldest = queue->oldest;
    if (UNLIKELY(queue->posted == 0)) {
        OFF_PATH("nothing is posted");
        return 0;
    }
    if (UNLIKELY(SHARED32(&oldest->status) != 0)) {
        OFF_PATH("it is done");
        *found = oldest;
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Take a done descriptor back. */
struct descriptor *take_done(struct queue *queue) {
    struct descriptor *oldest = queue->oldest;
    queue->oldest = (struct descriptor *)be32_load(&oldest->next);
    queue->posted = queue->posted - 1;
    return oldest;
}

/* One look at an entry of a completion queue. */
u32 look_entry(u32 *entry) {
    if (UNLIKELY(SHARED32(entry) != 0)) {
        OFF_PATH("something is done");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Take an entry of a completion queue. */
u32 take_entry(u32 **place, u32 *first, u32 *end) {
    u32 *at = *place, word = be32_load(at);
    *at = 0;
    at++;
    if (UNLIKELY(at == end)) {
        OFF_PATH("round the queue");
        at = first;
    }
    *place = at;
    return word;
}

/* ---- the kernel: posting */

/* Is the request whole, whose VI is it; take the lock. */
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
    while (UNLIKELY(__sync_lock_test_and_set(lock, 1))) {
        OFF_PATH("another processor has it");
    }
    return vi;
}

/* The fast I/O dispatch: device control of the file object, its code and the lengths of its buffers; the request copied
 * from user space, after its place was probed. */
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

/* A descriptor with one segment, probed and copied from user space: what the process changes meanwhile does not count. */
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

/* A region by its handle: this process's, under this tag, and as long. */
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

/* A descriptor with one segment: control words to the NIC, and what the kernel keeps of it. */
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
    SHARED32(&physical_descriptor[0]) = __builtin_bswap32(kind << 30 | vi->number << 21 | 1);
    SHARED32(&physical_descriptor[1]) = __builtin_bswap32(physical(home, request->descriptor));
    SHARED32(&physical_descriptor[2]) = __builtin_bswap32(size);
    PIO_WRITE(SHARED32(&physical_descriptor[0]));
    PIO_WRITE(SHARED32(&physical_descriptor[1]));
    PIO_WRITE(SHARED32(&physical_descriptor[2]));
    PIO_WRITE(__builtin_bswap32(tail + words));
    return va;
}

/* VipPostSend in the kernel: into the central send queue. */
u32 post_send(struct kernel *kernel, const u32 *file, u32 *stack, u32 process, u32 time) {
    struct request request;
    struct descriptor descriptor;
    struct vi *vi;
    u32 built[5], result;
    if (UNLIKELY(dispatch(file, stack, &request))) {
        OFF_PATH("refused");
        return 1;
    }
    vi = enter(kernel, &request, process, &kernel->sends.lock);
    result = post(kernel, vi, &kernel->sends, &request, DEVICE_SEND, time, &descriptor, built);
    SHARED32(&kernel->sends.lock) = 0;
    stack[7] = 0;
    stack[8] = 0;
    return result;
}

/* VipPostRecv in the kernel: into the VI's receive queue cache. */
u32 post_receive(struct kernel *kernel, const u32 *file, u32 *stack, u32 process, u32 time) {
    struct request request;
    struct descriptor descriptor;
    struct vi *vi;
    u32 built[5], result;
    if (UNLIKELY(dispatch(file, stack, &request))) {
        OFF_PATH("refused");
        return 1;
    }
    vi = enter(kernel, &request, process, &kernel->sends.lock);
    result = post(kernel, vi, &vi->receives, &request, 0, time, &descriptor, built);
    SHARED32(&kernel->sends.lock) = 0;
    stack[7] = 0;
    stack[8] = 0;
    return result;
}

/* Each page of a segment: where it is, how much of it. */
u32 post_page(struct kernel *kernel, struct vi *vi, u32 handle, u32 va, u32 size) {
    struct region *region = region_of(kernel, vi, handle, va, size);
    u32 part = (1u << PAGE_BITS) - (va & (1u << PAGE_BITS) - 1);
    if (LIKELY(part > size)) part = size;
    PIO_WRITE(__builtin_bswap32(physical(region, va)));
    PIO_WRITE(__builtin_bswap32(part));
    return size - part;
}

/* A message that goes into the queue as it is: its words instead of their address. */
void post_inline(const u32 *data) {
    PIO_WRITE(data[0]);
    PIO_WRITE(data[1]);
}

/* A descriptor that is refused: its status says why. */
u32 post_refused(struct kernel *kernel, struct request *request, u32 process, u32 status) {
    struct vi *vi = enter(kernel, request, process, &kernel->sends.lock);
    struct descriptor *descriptor = (struct descriptor *)request->descriptor;
    be32_store(&descriptor->length, 0);
    be32_store(&descriptor->status, status | 1);
    kernel->sends.lock = 0;
    return vi->number;
}

/* ---- the kernel: memory, VIs */

/* VipRegisterMem: a free entry of the table of regions. */
u32 register_region(struct kernel *kernel, struct region *free, u32 process, u32 va, u32 size, u32 tag, u32 serial) {
    if (UNLIKELY(size == 0) || UNLIKELY(va + size < va) || UNLIKELY(!free)) {
        OFF_PATH("not possible");
        return 0;
    }
    free->process = process;
    free->va = va;
    free->size = size;
    free->tag = tag;
    free->first_page = va >> PAGE_BITS;
    free->handle = serial << 12 | (u32)free - (u32)kernel->regions;
    return free->handle;
}

/* Each page of a region: hold it in its frame, and enter it into the region's table. */
u32 *register_page(u32 *entry, u32 *page_table_entry, u32 *frame_database, u32 process) {
    u32 word = *page_table_entry, frame = word >> PAGE_BITS, *count = &frame_database[6 * frame];
    if (UNLIKELY(!(word & 1)) || UNLIKELY(!(word & 4))) {
        OFF_PATH("not present, or not the user's");
        return 0;
    }
    __sync_fetch_and_add(count, 1);
    count[1] = process;
    *entry = word & ~0xFFFu;
    LOOP_AGAIN();
    return entry + 1;
}

/* VipCreateVi: a free VI, its words. */
u32 create_vi(struct kernel *kernel, struct vi *free, u32 process, u32 tag, u32 most, u32 reliability) {
    if (UNLIKELY(!free) || UNLIKELY(most > 65536)) {
        OFF_PATH("not possible");
        return 0;
    }
    free->process = process;
    free->tag = tag;
    free->most = most;
    free->reliability = reliability;
    free->state = 0;
    free->generation = free->generation + 1;
    free->sleepers = 0;
    PIO_WRITE(__builtin_bswap32(reliability));
    PIO_WRITE(__builtin_bswap32(free->generation << 8));
    return free->number;
}

/* VipDestroyVi. */
u32 destroy_vi(struct vi *vi, u32 process) {
    if (UNLIKELY(vi->process != process) || UNLIKELY(vi->state == CONNECTED)) {
        OFF_PATH("not possible");
        return 1;
    }
    vi->process = 0;
    return 0;
}

/* VipCreateCQ: a free number, a page for the entries. */
u32 create_queue(u32 *queues, u32 number, u32 process, u32 page, u32 entries) {
    u32 *one = &queues[4 * number];
    if (UNLIKELY(entries == 0) || UNLIKELY(entries > 1024) || UNLIKELY(one[0] != 0)) {
        OFF_PATH("not possible");
        return 0;
    }
    one[0] = process;
    one[1] = page;
    one[2] = entries;
    PIO_WRITE(__builtin_bswap32(page));
    PIO_WRITE(__builtin_bswap32(entries));
    return number;
}

/* VipDestroyCQ. */
u32 destroy_queue(u32 *queues, u32 number, u32 process) {
    u32 *one = &queues[4 * number];
    if (UNLIKELY(one[0] != process) || UNLIKELY(one[3] != 0)) {
        OFF_PATH("in use");
        return 1;
    }
    one[0] = 0;
    return 0;
}

/* Put a thread to sleep until a descriptor is done. */
u32 sleep_in_kernel(struct vi *vi, struct descriptor *descriptor, u32 thread, u32 *sleeper, u32 side) {
    sleeper[0] = vi->sleepers;
    sleeper[1] = thread;
    sleeper[2] = (u32)descriptor;
    sleeper[3] = side;
    vi->sleepers = (u32)sleeper;
    PIO_WRITE(__builtin_bswap32(side));
    if (UNLIKELY(SHARED32(&descriptor->status) != 0)) {
        OFF_PATH("it is done");
        return 1;
    }
    return 0;
}

/* ---- the kernel: the NIC's interrupt, refills, commands */

/* The interrupt service routine: is it ours; is there an event, a letter, a sleeper whose descriptor is done. */
u32 serve_interrupt(struct kernel *kernel, struct vi *vi, u32 *letter) {
    u32 *sleeper = (u32 *)vi->sleepers;
    kernel->interrupts = kernel->interrupts + 1;
    PIO_WRITE(__builtin_bswap32(1u << 30));
    if (UNLIKELY(SHARED32(&kernel->events[kernel->event]) != 0)) {
        OFF_PATH("an event");
        return 1;
    }
    if (UNLIKELY(SHARED32(letter) != 0)) {
        OFF_PATH("a letter");
        return 2;
    }
    if (UNLIKELY(kernel->sends.waiting)) {
        OFF_PATH("the send queue");
        return 3;
    }
    if (LIKELY(SHARED32(&((struct descriptor *)sleeper[2])->status) != 0)) vi->sleepers = sleeper[0];
    return sleeper[1];
}

/* A word of the event ring. */
u32 read_event(struct kernel *kernel) {
    u32 event = kernel->event, word = be32_load(&kernel->events[event]);
    struct vi *vi = &kernel->vis[word >> 16 & 0x7F];
    kernel->events[event] = 0;
    kernel->event = event + 1 & 0xFF;
    vi->state = ERROR;
    return word;
}

/* Refill a queue cache: each descriptor that waited, and the flag. */
u32 refill_cache(struct cache *cache, struct posted *posted) {
    u32 head = PIO_READ(), tail = cache->tail;
    cache->head = head;
    if (UNLIKELY(tail - head > cache->size - 5)) {
        OFF_PATH("no room");
        return 0;
    }
    posted->end = tail + 5;
    cache->tail = tail + 5;
    cache->waiting = cache->waiting - 1;
    PIO_WRITE(posted->region);
    PIO_WRITE(tail + 5);
    return cache->waiting;
}

/* A word into the command ring. */
void give_command(struct cache *cache, u32 word) {
    u32 tail = cache->tail;
    cache->tail = tail + 1;
    PIO_WRITE(__builtin_bswap32(word));
    PIO_WRITE(__builtin_bswap32(tail + 1));
}

/* ---- the kernel agent */

/* A message to another kernel agent: eight words, and a descriptor for them. */
void agent_send(struct kernel *kernel, u32 *place, const u32 *message, u32 node) {
    u32 tail = kernel->sends.tail;
    place[0] = message[0];
    place[1] = message[1];
    place[2] = message[2];
    place[3] = message[3];
    place[4] = message[4];
    place[5] = message[5];
    place[6] = message[6];
    place[7] = message[7];
    kernel->sends.tail = tail + 5;
    PIO_WRITE(__builtin_bswap32(1u << 30 | 1));
    PIO_WRITE(__builtin_bswap32((u32)place));
    PIO_WRITE(__builtin_bswap32(node << 16 | 32));
    PIO_WRITE(__builtin_bswap32(tail + 5));
}

/* A message of another kernel agent: what it is, and which connection it means. */
u32 agent_serve(struct kernel *kernel, const u32 *message, u32 **known) {
    u32 type = be32_load(&message[0]), source = be32_load(&message[1]), number = be32_load(&message[2]);
    u32 *connection = known[number & 63];
    struct vi *vi = &kernel->vis[be32_load(&message[3]) & 0x7F];
    if (UNLIKELY(!connection) || UNLIKELY(connection[0] != source) || UNLIKELY(connection[1] != number)) {
        OFF_PATH("not known");
        return 0;
    }
    if (UNLIKELY(vi->state == ERROR)) {
        OFF_PATH("broken");
        return 0;
    }
    connection[2] = type;
    return type;
}

/* ---- RDMA writes that arrive */

struct slot { u32 va, handle, size, vi; };

/* A piece in the kernel's buffer: may it go where it says? */
struct region *check_write(struct kernel *kernel, struct slot *slot) {
    u32 word = be32_load(&slot->vi), handle = be32_load(&slot->handle);
    struct vi *vi = &kernel->vis[word & 0xFF];
    struct region *region = region_of(kernel, vi, handle, be32_load(&slot->va), be32_load(&slot->size));
    slot->vi = 0;
    if (UNLIKELY(!region) || UNLIKELY(!(region->flags & 1)) || UNLIKELY(vi->state != CONNECTED)) {
        OFF_PATH("not allowed");
        return 0;
    }
    PIO_WRITE(__builtin_bswap32(word));
    return region;
}

/* 32 bytes of a copy. */
void copy_line(u32 *target, const u32 *source) {
    target[0] = source[0];
    target[1] = source[1];
    target[2] = source[2];
    target[3] = source[3];
    target[4] = source[4];
    target[5] = source[5];
    target[6] = source[6];
    target[7] = source[7];
    LOOP_AGAIN();
}

/* ---- posting without the kernel */

struct mapped { u32 *ring, *tail_at, *head_at, tail, head; };

/* Write where a descriptor is: its address and handle, and the tail. */
u32 post_pointer(struct mapped *mapped, u32 va, u32 handle) {
    u32 tail = mapped->tail;
    if (UNLIKELY(tail - mapped->head > 254)) {
        OFF_PATH("no room");
        return 1;
    }
    PIO_WRITE(__builtin_bswap32(va | 1));
    PIO_WRITE(__builtin_bswap32(handle));
    mapped->tail = tail + 2;
    PIO_WRITE(__builtin_bswap32(tail + 2));
    return 0;
}

/* Write a descriptor's control segment, and the tail. */
u32 post_image(struct mapped *mapped, const struct descriptor *descriptor, u32 handle, u32 words) {
    u32 tail = mapped->tail;
    if (UNLIKELY(tail - mapped->head > 256 - words)) {
        OFF_PATH("no room");
        return 1;
    }
    PIO_WRITE(__builtin_bswap32((u32)descriptor));
    PIO_WRITE(__builtin_bswap32(handle));
    PIO_WRITE(descriptor->reserved);
    PIO_WRITE(descriptor->count_control);
    PIO_WRITE(descriptor->reserved_2);
    PIO_WRITE(descriptor->immediate);
    PIO_WRITE(descriptor->length);
    PIO_WRITE(descriptor->status);
    mapped->tail = tail + words;
    PIO_WRITE(__builtin_bswap32(tail + words));
    return 0;
}

/* Write one of its segments. */
void post_image_segment(const u32 *segment) {
    PIO_WRITE(segment[0]);
    PIO_WRITE(segment[1]);
    PIO_WRITE(segment[2]);
    PIO_WRITE(segment[3]);
    LOOP_AGAIN();
}

/* One look at how much of the queue cache the NIC has used. */
u32 look_room(struct mapped *mapped) {
    u32 head = __builtin_bswap32(PIO_READ());
    mapped->head = head;
    LOOP_AGAIN();
    return mapped->tail - head;
}
