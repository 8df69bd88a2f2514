/* What each step of VIA costs the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md.
 * Queue caches, the words of VIs and of the kernel are shared with the host; the rest is the firmware's own. */
#include "paths.h"

enum { CONNECTED = 1, VALID = 1u << 31, LOW_WORDS = 20 };

struct shared {
    u32 kernel, send_tail, send_head, send_queued, command_tail, command_head, refills, unused[9], counters[16], commands[64];
};
struct vi_words { u32 state, peer, mode, receive_tail, receive_head, queued, notify, send_queue, receive_queue, unused[7]; };
struct ring { u32 *base, mask, at, freed; };
struct unanswered { u32 descriptor, length, operation; };
struct endpoint {
    struct vi_words *words;
    struct ring receives;
    u32 generation, node, peer, reliability, sequence, expected, verdict, number;
    u32 receiving, descriptor, entries, address, left, length, immediate;
    u32 oldest, newest;
    struct unanswered unanswered[16];
};
struct message {
    struct endpoint *endpoint;
    u32 active, control, descriptor, length, node, peer, key, kind, entries, address, left, fetching, fetched, first, before, behind;
    u32 words[4];
};
struct layer {
    struct shared *shared;
    u32 me, number, event, stores, event_mask, packet, vis;
    struct ring sends, commands;
    struct message now;
    u32 answers_first, answers_last, answers[16][3], awaiting_last, awaiting[16][2];
    u32 stored, fresh_first, fresh_last, fresh[32][2];
    struct endpoint endpoints[128];
};
struct queue { u32 address, entries, place; };

/* ---- what the loop looks at */

/* One look at the word that tells that the driver is there. */
u32 look_start(struct shared *shared) {
    u32 kernel = SHARED32(&shared->kernel);
    if (UNLIKELY(kernel != 0)) {
        OFF_PATH("the driver is there");
        return kernel;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the tail of the central send queue. */
u32 look_tail(struct layer *layer, u32 seen) {
    if (UNLIKELY(SHARED32(&layer->shared->send_tail) != seen)) {
        OFF_PATH("something is posted");
        return 1;
    }
    return 0;
}

/* One look at the tail of the command ring; the last step of the loop. */
u32 look_command(struct layer *layer, u32 seen) {
    if (UNLIKELY(SHARED32(&layer->shared->command_tail) != seen)) {
        OFF_PATH("a command");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* One look at the count of refills. */
u32 look_refill(struct shared *shared, u32 seen) {
    if (UNLIKELY(SHARED32(&shared->refills) != seen)) {
        OFF_PATH("refilled");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* ---- queue caches */

static inline __attribute__((always_inline)) u32 take(struct ring *ring) {
    u32 at = ring->at;
    ring->at = at + 1;
    return SHARED32(&ring->base[at & ring->mask]);
}

/* A VI's state; the same generation as before. */
static inline __attribute__((always_inline)) u32 state_of(struct endpoint *endpoint) {
    u32 word = SHARED32(&endpoint->words->state);
    if (UNLIKELY(word >> 8 != endpoint->generation)) {
        OFF_PATH("a new generation");
        endpoint->generation = word >> 8;
        endpoint->sequence = 0;
    }
    return word & 0xFF;
}

/* ---- sending */

/* The three control words of a descriptor: which VI, is it connected, what follows. */
u32 send_begin(struct layer *layer) {
    struct ring *ring = &layer->sends;
    struct message *now = &layer->now;
    struct endpoint *endpoint;
    u32 control, number = layer->number + 1 & 0xFFFFFF;
    if (UNLIKELY(SHARED32(&layer->shared->send_tail) - ring->at < 3)) {
        OFF_PATH("nothing there");
        return 0;
    }
    control = take(ring);
    now->descriptor = take(ring);
    now->length = take(ring);
    endpoint = &layer->endpoints[control >> 21 & 0x7F];
    layer->number = number;
    now->key = layer->me << 24 | number;
    now->control = control;
    now->endpoint = endpoint;
    now->first = 1;
    now->fetching = 0;
    now->fetched = 0;
    now->left = 0;
    now->before = 0;
    now->behind = 0;
    if (UNLIKELY(state_of(endpoint) != CONNECTED)) {
        OFF_PATH("not connected");
        return 0;
    }
    now->node = endpoint->node;
    now->peer = endpoint->peer;
    now->kind = control >> 30;
    now->active = 1;
    now->entries = control & 0xFFFF;
    if (UNLIKELY(control >> 28 & 3)) {
        OFF_PATH("inline or immediate");
        return 2;
    }
    return 1;
}

/* Address and handle of an RDMA write. */
void send_write(struct layer *layer) {
    struct message *now = &layer->now;
    now->words[0] = take(&layer->sends);
    now->words[1] = take(&layer->sends);
    now->before = 8;
    now->kind = 3;
}

/* A message that stands in the queue itself: one or two words. */
void send_inline(struct layer *layer) {
    struct message *now = &layer->now;
    u32 length = now->length;
    now->words[2] = take(&layer->sends);
    if (UNLIKELY(length > 4)) {
        OFF_PATH("two words");
        now->words[3] = take(&layer->sends);
    }
    now->before = length;
    now->entries = 0;
}

/* A further word of a message that is in the queue. */
void send_inline_word(struct layer *layer, u32 at) {
    layer->now.words[at] = take(&layer->sends);
}

/* The next entry of the list of pages. */
void send_page(struct layer *layer) {
    struct message *now = &layer->now;
    struct ring *ring = &layer->sends;
    u32 entries = now->entries;
    if (UNLIKELY(entries == 0) || UNLIKELY(SHARED32(&layer->shared->send_tail) - ring->at < 2)) {
        OFF_PATH("nothing there");
        return;
    }
    now->address = take(ring);
    now->left = take(ring);
    now->entries = entries - 1;
}

/* Cut the next packet from the page. */
u32 send_piece(struct layer *layer) {
    struct message *now = &layer->now;
    u32 size = now->left, address = now->address, most = layer->packet;
    if (UNLIKELY(size > most)) {
        OFF_PATH("a part of the page");
        size = most;
    }
    now->left = now->left - size;
    now->address = address + size;
    now->fetching = now->fetching + 1;
    return size;
}

/* The header of the next packet. */
u32 send_packet(struct layer *layer, u32 size, u32 *header) {
    struct message *now = &layer->now;
    struct endpoint *endpoint = now->endpoint;
    u32 sequence = endpoint->sequence, last;
    if (UNLIKELY(now->before)) {
        OFF_PATH("not fetched");
        size = now->before;
    } else {
        now->fetched = now->fetched - 1;
        now->fetching = now->fetching - 1;
    }
    endpoint->sequence = sequence + 1 & 0xFF;
    last = !(now->entries | now->left | now->fetching | now->behind);
    header[0] = now->key;
    header[1] = size << 21 | now->peer << 14 | now->kind << 10 | now->first << 9 | last << 8 | sequence;
    now->first = 0;
    return last;
}

/* The last packet has left: the queue cache is free so far; does it run low? */
u32 send_end(struct layer *layer) {
    struct ring *ring = &layer->sends;
    u32 at = ring->at;
    layer->now.active = 0;
    ring->freed = at;
    SHARED32(&layer->shared->send_head) = at;
    if (UNLIKELY(SHARED32(&layer->shared->send_queued) == 1)) {
        OFF_PATH("more waits at the host");
        return 1;
    }
    if (UNLIKELY(layer->now.endpoint->reliability != 1)) {
        OFF_PATH("reliable");
        return 2;
    }
    return 0;
}

/* A reliable connection: the message waits for its answer. */
void send_unanswered(struct layer *layer) {
    struct message *now = &layer->now;
    struct endpoint *endpoint = now->endpoint;
    u32 newest = endpoint->newest;
    struct unanswered *one = &endpoint->unanswered[newest & 15];
    endpoint->newest = newest + 1;
    one->descriptor = now->descriptor;
    one->length = now->length;
    one->operation = now->kind << 16;
}

/* ---- completing */

/* Length and status of a descriptor; has it a completion queue? */
u32 write_status(struct endpoint *endpoint, u32 length, u32 status, u32 side, u32 *words, u32 *stores) {
    words[0] = length;
    words[1] = status | 1;
    *stores = *stores + 1;
    if (UNLIKELY((&endpoint->words->send_queue)[side - 1])) {
        OFF_PATH("a completion queue");
        return 1;
    }
    return 0;
}

/* Remember a completion until it is in host memory, and see whether the oldest one is: does somebody sleep for it? */
u32 look_sleeper(struct layer *layer, struct endpoint *endpoint, u32 side) {
    u32 last = layer->fresh_last, *one = layer->fresh[last & 31];
    one[0] = layer->stores;
    one[1] = (u32)endpoint | side;
    layer->fresh_last = last + 1;
    one = layer->fresh[layer->fresh_first & 31];
    if (UNLIKELY((int)(one[0] - layer->stored) > 0)) {
        OFF_PATH("it is still on its way");
        return 0;
    }
    layer->fresh_first++;
    if (UNLIKELY(SHARED32(&((struct endpoint *)(one[1] & ~3u))->words->notify) & one[1] & 3)) {
        OFF_PATH("somebody sleeps");
        return 1;
    }
    return 0;
}

/* An entry of a completion queue. */
u32 write_entry(struct queue *queue, u32 vi, u32 side, u32 *word, u32 *stores) {
    u32 place = queue->place, next = place + 1;
    if (UNLIKELY(next == queue->entries)) {
        OFF_PATH("round the queue");
        next = 0;
    }
    queue->place = next;
    *word = VALID | side << 8 | vi;
    *stores = *stores + 1;
    return queue->address + 4 * place;
}

/* A word of the event ring. */
u32 tell_kernel(struct layer *layer, u32 word, u32 *words) {
    u32 event = layer->event;
    layer->event = event + 1 & 0xFF;
    words[0] = VALID | word;
    layer->stores = layer->stores + 1;
    return SHARED32(&layer->shared->kernel) + 4 * event;
}

/* ---- receiving */

/* Which VI the packet is for, is it connected to its source, is it in order. */
u32 receive_packet(struct layer *layer, u32 first, u32 second, u32 source) {
    struct endpoint *endpoint = &layer->endpoints[second >> 14 & 0x7F];
    u32 expected = endpoint->expected;
    if (UNLIKELY((second >> 14 & 0x7F) >= layer->vis) || UNLIKELY(state_of(endpoint) != CONNECTED) || UNLIKELY(endpoint->node != source)) {
        OFF_PATH("not connected");
        return 0;
    }
    if (UNLIKELY(second >> 10 & 8)) {
        OFF_PATH("an answer");
        return 0;
    }
    endpoint->expected = expected + 1 & 0xFF;
    if (UNLIKELY((second & 0xFF) != expected)) {
        OFF_PATH("a packet is missing");
        return 0;
    }
    if (LIKELY(second >> 9 & 1)) return second >> 21;
    OFF_PATH("a further packet");
    return 0;
}

/* A packet that is not wanted: count it. */
void receive_refused(struct layer *layer, u32 counter) {
    u32 *at = &layer->shared->counters[counter];
    SHARED32(at) = *at + 1;
}

/* The next descriptor of a receive queue cache. */
u32 receive_begin(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    if (UNLIKELY(SHARED32(&endpoint->words->receive_tail) - ring->at < 3)) {
        OFF_PATH("there is none");
        return 0;
    }
    endpoint->entries = take(ring) & 0xFFFF;
    endpoint->descriptor = take(ring);
    ring->at++;
    endpoint->left = 0;
    endpoint->length = 0;
    endpoint->receiving = 1;
    endpoint->immediate = 0;
    return 1;
}

/* The next entry of its list of pages. */
u32 receive_page(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 entries = endpoint->entries, at = ring->at;
    if (UNLIKELY(entries == 0) || UNLIKELY(SHARED32(&endpoint->words->receive_tail) - at < 2)) {
        OFF_PATH("there is none");
        return 0;
    }
    if (UNLIKELY(2 * (at - ring->freed) > ring->mask)) {
        OFF_PATH("a list longer than the ring");
        ring->freed = at;
    }
    endpoint->address = take(ring);
    endpoint->left = take(ring);
    endpoint->entries = entries - 1;
    return 1;
}

/* Where the payload goes, and how much of it fits there. */
u32 receive_piece(struct endpoint *endpoint, u32 size) {
    u32 left = endpoint->left, address = endpoint->address;
    if (UNLIKELY(size > left)) {
        OFF_PATH("it goes on in the next page");
        size = left;
    }
    endpoint->left = left - size;
    endpoint->address = address + size;
    endpoint->length = endpoint->length + size;
    return address;
}

/* The message is complete: the descriptor is free; does the cache run low, is an answer due? */
u32 receive_end(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 at = ring->at + 2 * endpoint->entries;
    endpoint->receiving = 0;
    ring->at = at;
    ring->freed = at;
    SHARED32(&endpoint->words->receive_head) = at;
    if (UNLIKELY(SHARED32(&endpoint->words->queued) == 1)) {
        OFF_PATH("more waits at the host");
        return SHARED32(&endpoint->words->receive_tail) - at < LOW_WORDS;
    }
    if (UNLIKELY(endpoint->reliability != 1)) {
        OFF_PATH("reliable");
        return 2;
    }
    return 0;
}

/* ---- answers, and the end of connections */

/* Make an answer, and put it before everything else that leaves. */
void answer(struct layer *layer, u32 node, u32 vi, u32 kind) {
    u32 last = layer->answers_last, *one = layer->answers[last & 15], number = layer->number + 1 & 0xFFFFFF;
    layer->number = number;
    one[0] = node;
    one[1] = layer->me << 24 | number;
    one[2] = vi << 14 | kind << 10 | 0x300;
    layer->answers_last = last + 1;
    if (UNLIKELY(last != layer->answers_first)) {
        OFF_PATH("others wait");
        return;
    }
    layer->answers_first = last + 1;
}

/* Remember that a message is answered when so much is stored. */
void await_stored(struct layer *layer, struct endpoint *endpoint) {
    u32 last = layer->awaiting_last, *one = layer->awaiting[last & 15];
    one[0] = layer->stores;
    one[1] = (u32)endpoint;
    layer->awaiting_last = last + 1;
}

/* An answer has come: the oldest message is done. */
struct unanswered *answer_seen(struct endpoint *endpoint, u32 second) {
    u32 oldest = endpoint->oldest;
    if (UNLIKELY((second >> 10 & 7) != 0) || UNLIKELY(oldest == endpoint->newest)) {
        OFF_PATH("the connection breaks");
        return 0;
    }
    endpoint->oldest = oldest + 1;
    return &endpoint->unanswered[oldest & 15];
}

/* The connection is no more. */
void break_up(struct endpoint *endpoint, u32 verdict) {
    endpoint->verdict = verdict;
    SHARED32(&endpoint->words->state) = endpoint->generation << 8 | 2;
    endpoint->receiving = 0;
    endpoint->receives.at = endpoint->receives.freed;
}

/* A descriptor in a receive queue cache that nobody will use. */
u32 flush_descriptor(struct endpoint *endpoint) {
    struct ring *ring = &endpoint->receives;
    u32 entries, descriptor, at = ring->at;
    if (UNLIKELY(SHARED32(&endpoint->words->receive_tail) - at < 3)) {
        OFF_PATH("there is none");
        return 0;
    }
    entries = take(ring) & 0xFFFF;
    descriptor = take(ring);
    at = at + 3 + 2 * entries;
    ring->at = at;
    ring->freed = at;
    SHARED32(&endpoint->words->receive_head) = at;
    return descriptor;
}

/* Mark that a refill is asked for. */
void ask_refill(u32 *flag, u32 *asked) {
    SHARED32(flag) = 2;
    *asked = *asked + 1;
}

/* A word of the command ring. */
u32 command(struct layer *layer) {
    struct ring *ring = &layer->commands;
    struct endpoint *endpoint;
    u32 word, at = ring->at;
    if (UNLIKELY(SHARED32(&layer->shared->command_tail) == at)) {
        OFF_PATH("there is none");
        return 0;
    }
    word = take(ring);
    endpoint = &layer->endpoints[word & 0x7F];
    state_of(endpoint);
    SHARED32(&endpoint->words->state) = endpoint->generation << 8 | 2;
    SHARED32(&layer->shared->command_head) = at + 1;
    return word >> 16;
}

/* ---- RDMA writes */

struct writing { u32 active, va, handle, length, page, frame; };
struct region { u32 handle, va, size, tag, table, flags; };
struct write_words { u32 writes, taken, scratch; };

/* Address and handle, with which an RDMA write begins. */
void write_begin(struct writing *writing, const u32 *payload) {
    writing->va = payload[0];
    writing->handle = payload[1];
    writing->length = 0;
    writing->page = 0xFFFFFFFF;
    writing->active = 1;
}

/* Is the range registered for it, under the VI's tag? */
u32 write_check(struct region *regions, u32 most, struct writing *writing, u32 *tag, u32 size) {
    u32 handle = writing->handle, va = writing->va;
    struct region *region = &regions[handle & 0xFFF];
    if (UNLIKELY((handle & 0xFFF) >= most) || UNLIKELY(SHARED32(&region->handle) != handle) || UNLIKELY(SHARED32(&region->tag) != SHARED32(tag))) {
        OFF_PATH("not its memory");
        return 0;
    }
    if (UNLIKELY(va < SHARED32(&region->va)) || UNLIKELY(va - SHARED32(&region->va) + size > SHARED32(&region->size))) {
        OFF_PATH("beyond it");
        return 0;
    }
    return 1;
}

/* Where in host memory the frame of a page is told. */
u32 write_look_up(struct region *region, struct writing *writing) {
    u32 page = (writing->va >> 12) - (SHARED32(&region->va) >> 12);
    writing->page = page;
    return SHARED32(&region->table) + 4 * page;
}

/* A piece within a page. */
u32 write_piece(struct writing *writing, u32 size) {
    u32 va = writing->va, part = 4096 - (va & 4095);
    if (LIKELY(part > size)) part = size;
    writing->va = va + part;
    writing->length = writing->length + part;
    return writing->frame + (va & 4095);
}

/* The next slot of the kernel's buffer, and the words that tell what is in it. */
u32 write_to_kernel(struct write_words *words, struct writing *writing, u32 *given, u32 stride, u32 vi, u32 size, u32 *header) {
    u32 count = *given, at;
    if (UNLIKELY(count - SHARED32(&words->taken) > 31)) {
        OFF_PATH("the buffer is full");
        return 0;
    }
    at = SHARED32(&words->writes) + writing->page;
    writing->page = writing->page + stride;
    *given = count + 1;
    header[0] = writing->va;
    header[1] = writing->handle;
    header[2] = size;
    header[3] = VALID | vi;
    writing->va = writing->va + size;
    writing->length = writing->length + size;
    return at;
}

/* One look at how much the kernel has copied. */
u32 look_taken(struct write_words *words, u32 seen) {
    if (UNLIKELY(SHARED32(&words->taken) != seen)) {
        OFF_PATH("more is copied");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* ---- users' doorbells and descriptors */

enum { IN_PLACE = 0x8000, FORMAT = 0x7FF8 };

struct segment { u32 va, unused, handle, size; };
struct part { u32 va, handle, size; };
struct work { u32 kind, vi, descriptor, length, flags, immediate, parts_left, tag; struct part parts[16], *part; };
struct entry { u32 handle, page, frame; };

/* One look at the tail in the page of a VI. */
u32 look_bell(struct ring *ring, u32 *tail, u32 seen) {
    if (UNLIKELY(SHARED32(tail) != seen)) {
        OFF_PATH("something is posted");
        return ring->at;
    }
    return 0;
}

/* A doorbell of a VI: the new tail of its queue cache. */
struct ring *bell_rung(struct ring *rings, u32 page, u32 offset, u32 value, u32 vis) {
    struct ring *ring = &rings[page];
    if (UNLIKELY(page - 1 >= vis - 1) || UNLIKELY(offset == 4)) {
        OFF_PATH("no VI, or a receive");
        return 0;
    }
    ring->freed = value;
    return ring;
}

/* The head of a user's descriptor in its queue cache: does it stand there, or in host memory? */
u32 read_descriptor(struct ring *ring, u32 *tail, struct work *work) {
    u32 va, handle, word;
    if (UNLIKELY(SHARED32(tail) - ring->at > ring->mask)) {
        OFF_PATH("no such tail");
        return 0;
    }
    va = take(ring);
    handle = take(ring);
    if (UNLIKELY(va & 62)) {
        OFF_PATH("not aligned");
        return 0;
    }
    ring->at++;
    word = take(ring);
    if (UNLIKELY(word & FORMAT & 0xFF)) {
        OFF_PATH("no such operation");
        return 0;
    }
    work->flags = word;
    work->kind = word & 3;
    ring->at++;
    work->immediate = take(ring);
    ring->at += 2;
    work->parts_left = word >> 16;
    work->part = work->parts;
    work->descriptor = va;
    work->parts[0].handle = handle;
    return word;
}

/* A segment: is it registered under the tag, and as long? */
u32 check_segment(struct region *regions, u32 most, struct work *work, const struct segment *segment) {
    u32 handle = segment->handle, va = segment->va, size = segment->size;
    struct region *region = &regions[handle & 0xFFF];
    struct part *part = work->part;
    if (UNLIKELY((handle & 0xFFF) >= most) || UNLIKELY(SHARED32(&region->handle) != handle) || UNLIKELY(SHARED32(&region->tag) != work->tag)) {
        OFF_PATH("not its memory");
        return 0;
    }
    if (UNLIKELY(va < SHARED32(&region->va)) || UNLIKELY(va - SHARED32(&region->va) + size > SHARED32(&region->size))) {
        OFF_PATH("beyond it");
        return 0;
    }
    work->length = work->length + size;
    part->va = va;
    part->handle = handle;
    part->size = size;
    work->part = part + 1;
    return 1;
}

/* AT2: the frame of a page. */
u32 translate_on_nic(struct region *region, u32 va) {
    u32 *table = (u32 *)SHARED32(&region->table);
    return SHARED32(&table[(va >> 12) - (SHARED32(&region->va) >> 12)]) | (va & 4095);
}

/* AT3: one way of a set, which holds the page. */
u32 translate_hit(struct entry *set, u32 handle, u32 page) {
    if (UNLIKELY(set->handle != handle) || UNLIKELY(set->page != page)) {
        OFF_PATH("another page");
        return 0;
    }
    return set->frame;
}

/* AT3: no way holds it; where its entry stands in host memory, and the one that gives way. */
u32 translate_miss(struct region *region, struct entry *oldest, u32 handle, u32 page) {
    oldest->handle = handle;
    oldest->page = page;
    return SHARED32(&region->table) + 4 * page;
}

/* A receive descriptor is kept for the message that will come. */
void keep_ahead(struct ring *ring, struct work *work, u32 *kept, struct work **places) {
    u32 count = *kept;
    places[count & 15] = work;
    *kept = count + 1;
    ring->freed = ring->at;
}

/* The oldest that was kept. */
struct work *take_ahead(u32 *used, struct work **places) {
    u32 count = *used;
    *used = count + 1;
    return places[count & 15];
}
