/* Messages of VIs whose processes post without the kernel. */

enum { MOST_REGIONS = 64, USER_RING = 511, OFFSET = 4095 };

struct pair { u32 send_tail, receive_tail, send_head, receive_head; };
struct user_ring { u32 *base; struct pair *pair; u32 at, unused; struct known known[16]; };
struct taken { struct vi *vi; u32 descriptor, length, va, left, page_left, active, fetching, key; struct known known; };
struct fresh { u32 first, stores, side; struct vi_words *words; };
struct vi {
    u32 connected, from, expected, sequence, peer_bits, tag, most, number, key, coming;
    struct vi_words *words;
    struct user_ring receives, sends;
    struct taken receiving;
};
#define REGIONS ((struct region *)0x4600)
#define VIS ((struct vi *)0x8000)
#define FENCED (*(u32 *)0x2000)

/* Check that a range is in a region. The cached region is valid until memory is deregistered (FENCED). */
static inline __attribute__((always_inline)) u32 within(const struct known *known, u32 va, u32 size) {
    u32 begin = va - known->va, bytes = known->size;
    if (UNLIKELY(begin > bytes) || UNLIKELY(size > bytes - begin)) {
        OFF_PATH("beyond it");
        return 0;
    }
    return 1;
}

/* Check a region other than the cached one: the handle, and the VI's tag. */
void user_region(struct vi *vi, struct known *known, u32 handle) {
    u32 index = handle & 0xFFF;
    struct region *region = &REGIONS[index];
    if (UNLIKELY(index >= MOST_REGIONS) || UNLIKELY(SHARED32(&region->handle) != handle) || UNLIKELY(SHARED32(&region->tag) != vi->tag)) {
        OFF_PATH("not its memory");
        return;
    }
    known->handle = handle;
    known->fenced = FENCED;
    known->va = SHARED32(&region->va);
    known->first = known->va >> 12;
    known->size = SHARED32(&region->size);
    known->table = (u32 *)SHARED32(&region->table);
}

/* Read the next word of a ring: a pointer to a descriptor in the cached region. */
u32 user_pointer(struct user_ring *ring, struct taken *taken) {
    struct known *known;
    u32 at = ring->at, word;
    if (UNLIKELY(SHARED32(&ring->pair->receive_tail) - at - 1 > USER_RING)) {
        OFF_PATH("there is none, or no such tail");
        return 0;
    }
    word = SHARED32(&ring->base[at & USER_RING]);
    known = (struct known *)((u32)ring->known + (word << 3 & 0x1E0));
    if (UNLIKELY((word & 3) != 1) || UNLIKELY(known->fenced != FENCED)) {
        OFF_PATH("another handle, or no pointer, or memory was taken back");
        return 0;
    }
    ring->at = at + 1;
    word &= -64;
    taken->descriptor = word;
    return within(known, word, 32);
}

/* Read a descriptor in the ring itself, after its own address and handle, as far as needed. */
static inline __attribute__((always_inline)) u32 image_at(struct user_ring *ring, struct taken *taken, u32 *image) {
    u32 at = ring->at, *from = &ring->base[at & USER_RING];
    u64_words own = SHARED64(from), control, range, segment;
    if (UNLIKELY(own.word[0] & 63) || UNLIKELY(own.word[1] != ring->known[0].handle) || UNLIKELY(ring->known[0].fenced != FENCED)) {
        OFF_PATH("another handle, or no descriptor, or memory was taken back");
        return 0;
    }
    control = SHARED64(&from[2]);
    range = SHARED64(&from[8]);
    segment = SHARED64(&from[10]);
    image[3] = control.word[1];
    image[8] = range.word[0];
    image[10] = segment.word[0];
    image[11] = segment.word[1];
    ring->at = at + 12;
    taken->descriptor = own.word[0];
    return within(&ring->known[0], own.word[0], 32);
}

/* Read the tail from the process's word. */
u32 user_image(struct user_ring *ring, struct taken *taken, u32 *image) {
    if (UNLIKELY(SHARED32(&ring->pair->receive_tail) - ring->at - 1 > USER_RING)) {
        OFF_PATH("there is none, or no such tail");
        return 0;
    }
    return image_at(ring, taken, image);
}

/* Use the tail from a doorbell. */
u32 user_image_told(struct user_ring *ring, struct taken *taken, u32 *image, u32 tail) {
    if (UNLIKELY(tail - ring->at - 1 > USER_RING)) {
        OFF_PATH("there is none, or no such tail");
        return 0;
    }
    return image_at(ring, taken, image);
}

/* Read the handle of another region. */
void user_handle(struct user_ring *ring, struct known *known) {
    u32 at = ring->at;
    known->handle = SHARED32(&ring->base[at & USER_RING]);
    ring->at = at + 1;
}

/* Free the words that were read from a ring. */
void user_taken(struct user_ring *ring) {
    SHARED32(&ring->pair->receive_head) = ring->at;
}

/* Check the control words of a descriptor with one plain segment, in the cached region. */
u32 user_segment(struct vi *vi, struct taken *taken, const u32 *image) {
    u32 va, size;
    if (UNLIKELY(image[3] != 0x10000)) {
        OFF_PATH("more than a segment");
        return 0;
    }
    va = image[8], size = image[11];
    if (UNLIKELY(va & 3) || UNLIKELY(size > vi->most)) {
        OFF_PATH("no whole words, or too long");
        return 0;
    }
    if (UNLIKELY((va & OFFSET) + size > OFFSET + 1)) {
        OFF_PATH("more than a page");
        taken->va = va;
    }
    taken->length = size;
    taken->left = size;
    if (UNLIKELY(image[10] != taken->known.handle) || UNLIKELY(taken->known.fenced != FENCED)) {
        OFF_PATH("another region, or memory was taken back");
        return 0;
    }
    return within(&taken->known, va, size);
}

/* Check the control words of any other descriptor. */
u32 user_control(struct taken *taken, const u32 *image) {
    u32 control = image[3];
    if (UNLIKELY(control & 0xFFF0) || UNLIKELY((control & 3) > 1)) {
        OFF_PATH("no such operation");
        return 0;
    }
    taken->length = 0;
    taken->left = control >> 16;
    return control & 7;
}

/* Compute the part of a segment in its next page. */
u32 user_page(struct taken *taken) {
    u32 va = taken->va, left = taken->left, part = 4096 - (va & OFFSET);
    if (LIKELY(left <= part)) part = left;
    else {
        OFF_PATH("it goes on in the next page");
        left = part;
    }
    if (UNLIKELY(taken->known.fenced != FENCED)) {
        OFF_PATH("memory was taken back meanwhile");
        return 0;
    }
    taken->va = va + part;
    taken->left = left - part;
    taken->page_left = part;
    return va;
}

/* Begin a message: check that its VI is connected, and number the message. */
u32 user_begin(struct vi *vi, struct taken *now, u32 *number) {
    u32 count = *number + 1 & 0xFFFF;
    if (UNLIKELY(SHARED32(&vi->words->state) != vi->connected)) {
        OFF_PATH("not connected");
        return 0;
    }
    u32 key = vi->key | count;
    *number = count;
    now->key = key;
    now->vi = vi;
    now->active = 1;
    now->fetching = 0;
    return key;
}

/* Create the header of the next packet. */
void user_packet(struct taken *now, u32 size, u32 *header) {
    struct vi *vi = now->vi;
    u32 sequence = vi->sequence, last = 3 << 16;
    if (UNLIKELY(now->left | now->page_left)) {
        OFF_PATH("not the only one");
        last = 0;
    }
    vi->sequence = sequence + 1;
    header[0] = now->key;
    header[1] = size << 29 | vi->peer_bits | last | (sequence & 0xFFFF);
}

/* The last packet has left. */
u32 user_sent(struct taken *now) {
    now->active = 0;
    if (UNLIKELY(now->vi->words->mode != 1)) {
        OFF_PATH("reliable");
        return 0;
    }
    return now->length;
}

/* Find the VI of a packet, and check that it is connected to the source and that the packet is in order. */
u32 user_receive(u32 first, u32 second, u32 size) {
    struct vi *vi = &VIS[second >> 22 & 0x7F];
    u32 expected = vi->expected;
    if (UNLIKELY(SHARED32(&vi->words->state) != vi->connected) || UNLIKELY(vi->from != first >> 16)) {
        OFF_PATH("not connected");
        return 0;
    }
    vi->expected = expected + 1;
    if (UNLIKELY((second & 0x20FFFF) != (expected & 0xFFFF))) {
        OFF_PATH("an answer, or a packet is missing");
        return 0;
    }
    if (LIKELY(second & 0x20000)) {
        vi->coming = first;
        return size;
    }
    OFF_PATH("a further packet");
    return 0;
}

/* Complete a message. */
u32 user_received(struct vi *vi, struct taken *taken, u32 size) {
    taken->active = 0;
    if (UNLIKELY(size > taken->left)) {
        OFF_PATH("too long");
        return 0;
    }
    if (UNLIKELY(vi->words->mode != 1)) {
        OFF_PATH("reliable");
        return 0;
    }
    return size;
}

/* Write length and status of a descriptor, and check for a completion queue. */
u32 user_status(struct vi *vi, u32 descriptor, u32 length, u32 status, u32 *words) {
    words[0] = length;
    words[1] = status | 1;
    if (UNLIKELY(SHARED32(&vi->words->receive_queue))) {
        OFF_PATH("a completion queue");
        return 0;
    }
    return descriptor + 24;
}

/* The oldest completion is in host memory: check for a sleeping thread. */
u32 user_sleeper(struct fresh *one, u32 stored) {
    u32 first = one->first;
    if (UNLIKELY((int)(one->stores - stored) > 0)) {
        OFF_PATH("it is still on its way");
        return 0;
    }
    if (UNLIKELY(SHARED32(&one->words->notify) & one->side)) {
        OFF_PATH("somebody sleeps");
        return 1;
    }
    one->first = first + 1;
    return 0;
}
