/* Users' doorbells, descriptors and translation. */

struct segment { u32 va, unused, handle, size; };
struct part { u32 va, handle, size; };
struct work { u32 kind, vi, descriptor, length, flags, immediate, parts_left, tag; struct part parts[16], *part; };
struct entry { u32 handle, page, frame; };

/* Sample the tail in the page of a VI. */
u32 look_bell(struct ring *ring, u32 *tail, u32 seen) {
    if (UNLIKELY(SHARED32(tail) != seen)) {
        OFF_PATH("something is posted");
        return ring->at;
    }
    return 0;
}

/* Handle a doorbell of a VI: set the new tail of its queue cache. */
struct ring *bell_rung(struct ring *rings, u32 page, u32 offset, u32 value, u32 vis) {
    struct ring *ring = &rings[page];
    if (UNLIKELY(page - 1 >= vis - 1) || UNLIKELY(offset == 4)) {
        OFF_PATH("no VI, or a receive");
        return 0;
    }
    ring->freed = value;
    return ring;
}

/* Read one of several segments, and check its region. */
u32 check_segment(struct work *work, const struct segment *segment, u32 most) {
    u32 size = segment->size, length = work->length + size;
    struct part *part = work->part;
    if (UNLIKELY(length > most)) {
        OFF_PATH("too long");
        return 0;
    }
    part->va = segment->va;
    part->handle = segment->handle;
    part->size = size;
    work->length = length;
    work->part = part + 1;
    return size;
}

/* Translation without a table: a region is contiguous in physical memory. */
u32 translate_flat(const struct known *known, u32 va) {
    return va + (u32)known->table;
}

/* AT2: load the frame of a page. */
u32 translate_on_nic(const struct known *known, u32 va) {
    return SHARED32(&known->table[(va >> 12) - known->first]) | (va & 4095);
}

/* AT3: compute the set of a page. */
struct entry *translate_set(const struct known *known, struct entry *sets, u32 mask, u32 va) {
    u32 page = (va >> 12) - known->first;
    return &sets[known->handle + page & mask];
}

/* AT3: compare a way of a set, which holds the page. */
u32 translate_hit(struct entry *set, u32 handle, u32 page) {
    if (UNLIKELY(set->handle != handle) || UNLIKELY(set->page != page)) {
        OFF_PATH("another page");
        return 0;
    }
    return set->frame;
}

/* AT3: miss: compute the entry's address in host memory, and evict a way. */
u32 *translate_miss(const struct known *known, struct entry *oldest, u32 page) {
    oldest->handle = known->handle;
    oldest->page = page;
    return known->table + page;
}

/* Keep a receive descriptor for a later message. */
void keep_ahead(struct ring *ring, struct work *work, u32 *kept, struct work **places) {
    u32 count = *kept;
    places[count & 15] = work;
    *kept = count + 1;
    ring->freed = ring->at;
}

/* Take the oldest kept descriptor. */
struct work *take_ahead(u32 *used, struct work **places) {
    u32 count = *used;
    *used = count + 1;
    return places[count & 15];
}
