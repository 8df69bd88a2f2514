/* Cost of each step of HPAM on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md.
 * The paths of polling the card and of words are the card driver's. */
#include "turns.h"
#include "../../nics/fifo/words.h"
#include "../../nics/fifo/buffers.h"

enum { NODES = 8, SLOTS = 4, ARGUMENTS = 8, MOST = 1980, TYPE = 0x0F2F, PATIENCE = 64 };

struct buffer { u32 descriptor, sequence, deadline, wait, busy; };
struct partner { u32 route[2], route_bytes, first; struct buffer requests[SLOTS], replies[SLOTS]; u16 seen[SLOTS]; };
struct hpam { u32 key, me, number, now, timeout, partners; struct partner *partner; };
struct call { u32 source, kind, arguments, size, replied, slot, sequence; };
struct queue { u32 put, taken, slots; u8 *memory; };
struct owner { u32 key; struct queue *incoming; struct owner *next; };

static inline u32 clock_now(void) {
    u32 low;
#ifdef __powerpc__
    __asm__ volatile("mftb %0" : "=r"(low));
#else
    __asm__ volatile("rdtsc" : "=a"(low) : : "edx");
#endif
    return low;
}

/* Store route, header, descriptor and buffer number over the bus. */
static inline void head(struct hpam *hpam, struct partner *partner, u32 buffer, u32 handler, u32 kind, u32 arguments, u32 sequence, u32 bytes, struct buffer *kept) {
    u32 number = hpam->number + 1 & 0xFF;
    hpam->number = number;
    PIO_WRITE(partner->route[0]);
    PIO_WRITE(partner->route[1]);
    PIO_WRITE(BE32((u32)TYPE << 16 | hpam->me << 8 | number));
    PIO_WRITE(BE32(hpam->key));
    PIO_WRITE(BE32(handler));
    PIO_WRITE(BE32(kind << 24 | arguments << 16 | sequence));
    PIO_WRITE(BE32(bytes << 16));
    kept->descriptor = 1u << 28 | (8 - partner->route_bytes) << 16 | partner->route_bytes + 20 + 4 * arguments + bytes;
    kept->sequence = sequence;
    PIO_WRITE(BE32(kept->descriptor));
    PIO_WRITE(BE32(buffer));
}

/* Check the arguments of a request, choose a free buffer of the node, set its timer. */
u32 hpam_compose(struct hpam *hpam, u32 node, u32 handler, u32 arguments, u32 bytes) {
    struct partner *partner = &hpam->partner[node];
    struct buffer *buffer = partner->requests;
    u32 slot = 0;
    if (UNLIKELY(node >= hpam->partners || arguments > ARGUMENTS || bytes > MOST)) {
        OFF_PATH("bad argument");
        return 1;
    }
    if (UNLIKELY(buffer->busy)) {
        OFF_PATH("the next buffer");
        slot = 1;
        buffer++;
    }
    buffer->busy = 1;
    buffer->wait = hpam->timeout;
    buffer->deadline = clock_now() + hpam->timeout;
    head(hpam, partner, partner->first + slot, handler, 1u << 4 | slot, arguments, buffer->sequence + 1 & 0xFFFF, bytes, buffer);
    return 0;
}

/* Write the reply to a request into its reply buffer. */
u32 hpam_reply(struct hpam *hpam, struct call *call, u32 handler, u32 arguments, u32 bytes) {
    struct partner *partner = &hpam->partner[call->source];
    u32 slot = call->slot;
    if (UNLIKELY(call->kind != 1 || call->replied || arguments > ARGUMENTS || bytes > MOST)) {
        OFF_PATH("bad argument");
        return 1;
    }
    call->replied = 1;
    head(hpam, partner, partner->first + SLOTS + slot, handler, 2u << 4 | slot, arguments, call->sequence, bytes, &partner->replies[slot]);
    return 0;
}

/* Retransmit a buffer and double its wait. */
void hpam_resend(struct hpam *hpam, struct buffer *buffer, u32 number) {
    buffer->wait <<= 1;
    if (UNLIKELY(buffer->wait > PATIENCE * hpam->timeout)) {
        OFF_PATH("the longest wait");
        buffer->wait = PATIENCE * hpam->timeout;
    }
    buffer->deadline = clock_now() + buffer->wait;
    PIO_WRITE(BE32(buffer->descriptor));
    PIO_WRITE(BE32(number));
}

/* Decode the header of the ready packet, check its key, release the buffer afterwards. */
u32 hpam_take(struct hpam *hpam, u32 ready, struct call *call, u32 *handler) {
    u32 first = BE32(PIO_READ()), key = BE32(PIO_READ()), word, bytes;
    if (UNLIKELY(ready & 3u << 29) || UNLIKELY(first >> 16 != TYPE)) {
        OFF_PATH("damaged");
        return 1;
    }
    if (UNLIKELY(key != hpam->key)) {
        OFF_PATH("of another process");
        return 2;
    }
    *handler = BE32(PIO_READ());
    word = BE32(PIO_READ());
    bytes = BE32(PIO_READ()) >> 16;
    call->source = first >> 8 & 0xFF;
    call->kind = word >> 28;
    call->slot = word >> 24 & 0xF;
    call->arguments = word >> 16 & 0xFF;
    call->sequence = word & 0xFFFF;
    call->size = bytes;
    call->replied = 0;
    PIO_WRITE(0);
    PIO_WRITE(BE32(ready >> 16 & 127));
    return 0;
}

/* Test whether a request is new. */
u32 hpam_accept(struct hpam *hpam, const struct call *call) {
    struct partner *partner = &hpam->partner[call->source];
    u32 next = partner->seen[call->slot] + 1 & 0xFFFF;
    if (UNLIKELY(call->sequence != next)) {
        OFF_PATH("a duplicate, or old");
        return 1;
    }
    partner->seen[call->slot] = (u16)next;
    return 0;
}

/* Free the request buffer of a reply. */
u32 hpam_answered(struct hpam *hpam, const struct call *call) {
    struct buffer *buffer = &hpam->partner[call->source].requests[call->slot];
    if (UNLIKELY(!buffer->busy || buffer->sequence != call->sequence)) {
        OFF_PATH("late");
        return 1;
    }
    buffer->busy = 0;
    return 0;
}

/* Find a slot of the output queue for another process's message. */
u8 *hpam_foreign(struct queue *queue) {
    u32 put = queue->put;
    if (UNLIKELY(put - queue->taken == queue->slots)) {
        OFF_PATH("full");
        return 0;
    }
    queue->put = put + 1;
    return queue->memory + 2048 * (put & queue->slots - 1);
}

/* Decode the oldest message of the input queue. */
const u32 *hpam_queued(struct queue *queue, struct call *call, u32 *handler) {
    u32 taken = queue->taken;
    const u32 *words = (const u32 *)(queue->memory + 2048 * (taken & queue->slots - 1));
    u32 word = be32_load(words + 3);
    queue->taken = taken + 1;
    call->source = be32_load(words) >> 8 & 0xFF;
    *handler = be32_load(words + 2);
    call->kind = word >> 28;
    call->slot = word >> 24 & 0xF;
    call->arguments = word >> 16 & 0xFF;
    call->sequence = word & 0xFFFF;
    call->size = be32_load(words + 4) >> 16;
    call->replied = 0;
    return words + 5;
}

/* Daemon: choose the next process. */
struct owner *hpam_switch(struct owner *owner, struct owner *first) {
    struct owner *next = owner->next;
    if (UNLIKELY(next == 0)) {
        OFF_PATH("round");
        next = first;
    }
    return next;
}

/* Daemon: poll once for the end of all transmissions. */
u32 hpam_look_idle(void) {
    if (UNLIKELY(BE32(PIO_READ()) & 2)) {
        OFF_PATH("it has");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Daemon: find the input-queue slot for a message of the output queue. */
u8 *hpam_move(struct queue *queue, struct owner *owners) {
    u32 taken = queue->taken, put;
    const u32 *words = (const u32 *)(queue->memory + 2048 * (taken & queue->slots - 1));
    struct queue *to;
    queue->taken = taken + 1;
    if (UNLIKELY(be32_load(words + 1) != owners->key)) {
        OFF_PATH("the next owner");
        return 0;
    }
    to = owners->incoming;
    put = to->put;
    if (UNLIKELY(put - to->taken == to->slots)) {
        OFF_PATH("full");
        return 0;
    }
    to->put = put + 1;
    return to->memory + 2048 * (put & to->slots - 1);
}

/* Copy 32 bytes of a message. */
u32 *hpam_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }
