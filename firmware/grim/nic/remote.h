/* Paths of remote.py, translation.py and windows.py. */
/* Decode a received remote memory message. */
void remote_look(struct ni *ni, struct job *job) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    if (UNLIKELY(in->expected != (data->w0 & 0xFF) || (data->w2 & 0xFFFF) != ni->me_word)) {
        OFF_PATH("out of order");
        return;
    }
    if (UNLIKELY((u32)in == ni->stalled)) {
        OFF_PATH("behind one that waits");
        return;
    }
    job->data = data;
    job->in = in;
    job->source = source;
    job->target = target;
    job->va = data->argument[0];
    job->size = (data->w2 >> 16) * 4 - (data->w1 >> 24 & 3);
    if (UNLIKELY(data->w1 >> 26 == TYPE_READ)) {
        OFF_PATH("a read");
        job->size = data->w3 & 0xFFFF;
    }
    job->lock = data->argument[1];
    job->value = data->argument[2];
    job->place = data->w1 >> 16 & 3;
    job->whole = job->place & 1 ? job->size : data->argument[3];
    if (UNLIKELY(!job->size || job->size > ni->host_slot)) {
        OFF_PATH("can never be");
        ni->errors++;
    }
}

/* Decode what a message to or from an FPGA card has in addition: its endpoints, and the offset of a physical write. */
u32 remote_card(struct ni *ni, struct job *job) {
    u32 target = job->data->w2 & 0xFFFF;
    job->reader = job->data->w1 & 0xFF0F;
    if (UNLIKELY(target != (ni->me_word | CARD_DEVICE))) {
        OFF_PATH("to the host, from a card");
        return 0;
    }
    if (UNLIKELY(job->data->w1 >> 26 == TYPE_PHYSICAL)) {
        OFF_PATH("physical");
        job->va -= CARD_BANKS;
    }
    return 1;
}

/* Compare one window of the FPGA card. */
struct opened *translate_window(struct opened *window, u32 offset) {
    if (UNLIKELY(offset - SHARED32(&window->begin) < SHARED32(&window->size))) {
        OFF_PATH("it is the one");
        return window;
    }
    LOOP_AGAIN();
    return window + 1;
}

/* Advance the stream, unless the message was parked and has advanced it before. */
static inline void take_job(struct ni *ni, struct job *job) {
    if (UNLIKELY(ni->parked == job)) {
        OFF_PATH("parked");
        ni->stalled = 0;
        return;
    }
    job->in->expected++;
    job->in->refusing = 0;
}

/* Check a message of a longer transfer against those before it, and record the state for the next one. */
u32 remote_transfer(struct ni *ni, struct job *job) {
    u32 shift = ni->channel_shift, at = (job->source << shift | job->data->w3 >> 24) << shift | job->target, *state;
    if (UNLIKELY(job->data->w1 >> 26 == 7)) {
        OFF_PATH("a reply");
        at = (((1 << ni->node_shift) + job->source) << shift | job->target) << shift | (job->data->w3 & 0xFF);
    }
    state = &ni->transfers[at];
    if (UNLIKELY((job->place & 1) && *state != job->va)) {
        OFF_PATH("interrupted");
        return *state;
    }
    *state = job->va + job->size;
    return 0;
}

/* Compare one static entry. */
struct fixed *translate_static(struct fixed *entry, u32 va) {
    if (UNLIKELY(va - SHARED32(&entry->va) < SHARED32(&entry->size))) {
        OFF_PATH("it is the one");
        return entry;
    }
    LOOP_AGAIN();
    return entry + 1;
}

/* Compare one word of the map: 32 granules. */
u32 translate_map(u32 *map, u32 first, u32 last) {
    u32 mask = ~0u << (first & 31);
    if (UNLIKELY(last >> 5 != first >> 5)) {
        OFF_PATH("more words");
        return (first | 31) + 1;
    }
    mask &= ~0u >> (31 - (last & 31));
    if (UNLIKELY((SHARED32(&map[first >> 5]) & mask) != mask)) {
        OFF_PATH("not given out");
        return 0;
    }
    LOOP_AGAIN();
    return last;
}

/* Compare one run-time entry. */
struct window *translate_block(struct ni *ni, struct window *entry, u32 va, u32 size) {
    if (UNLIKELY(va >= SHARED32(&entry->va) && va + size <= entry->va + SHARED32(&entry->size))) {
        OFF_PATH("it is the one");
        return entry;
    }
    LOOP_AGAIN();
    return (struct window *)((u8 *)entry + 148);
}

/* Step over one piece of an entry's list. */
struct piece *translate_piece(struct piece *piece, u32 *skip) {
    u32 bytes = SHARED32(&piece->bytes);
    if (UNLIKELY(*skip < bytes)) {
        OFF_PATH("it begins here");
        return piece;
    }
    *skip -= bytes;
    LOOP_AGAIN();
    return piece + 1;
}

/* Send a request to the driver by DMA to the kernel; the interrupt follows. */
void translate_ask(struct ni *ni, struct job *job) {
    u32 *request = ni->request;
    request[0] = job->va;
    request[1] = job->size;
    request[2] = ni->victim;
    ni->victim = (ni->victim + 1) & ni->victim_mask;
    ni->request_number++;
    request[3] = ni->request_number;
    ni->parked = job;
    ni->stalled = (u32)job->in;
    ni->block_tail = post(ni, ni->block_tail, (u32)request, SHARED32(ni->kernel), 16, WAKE, 0, job->data->w0);
    REGISTER_WRITE(PULSE, 1);
    REGISTER_WRITE(ISR, 0x40000000);
}

/* Take the driver's answer from its entry. */
u32 translate_told(struct ni *ni) {
    struct window *entry = (struct window *)((u8 *)ni->windows + ((ni->victim - 1) & ni->victim_mask) * 148);
    u32 answer = SHARED32(&entry->answer);
    REGISTER_WRITE(ISR, 0x20000000);
    if (UNLIKELY(SHARED32(ni->freed_word) != ni->freed)) {
        OFF_PATH("a block is freed");
        return 2;
    }
    if (UNLIKELY(!ni->parked || answer >> 16 != (ni->request_number & 0xFFFF) || (answer & 0xFFFF))) {
        OFF_PATH("not to this request, or refused");
        return 1;
    }
    ni->parked = 0;
    ni->stalled = 0;
    return 0;
}

#include "freed.h"

/* Execute a write: advance the stream, append the block of its first piece. */
void remote_write(struct ni *ni, struct job *job, struct buffer *buffer, u32 flags) {
    u32 size = job->size;
    take_job(ni, job);
    if (UNLIKELY(job->piece->bytes < size)) {
        OFF_PATH("more pieces");
        size = job->piece->bytes;
    }
    ni->block_tail = post(ni, ni->block_tail, (u32)job->data->payload, job->piece->pa + job->found, size, flags, buffer, job->data->w0);
    REGISTER_WRITE(PULSE, 1);
}

/* Append the block of one more piece. */
struct piece *remote_piece(struct ni *ni, struct piece *piece, u32 from, u32 left) {
    if (UNLIKELY(left < piece->bytes)) {
        OFF_PATH("the last one");
        return 0;
    }
    ni->block_tail = post(ni, ni->block_tail, from, piece->pa, piece->bytes, 0, 0, 0);
    LOOP_AGAIN();
    return piece + 1;
}

/* Append the lock word behind the data. */
void remote_lock(struct ni *ni, u32 pa, u32 value, struct buffer *buffer) {
    ni->block_tail = post_word(ni, ni->block_tail, value, pa, buffer, 0);
}

/* Execute a read: reserve room in the NI's own queue and scoreboard, write the reply's header, append the block that
 * fetches the first piece. */
void remote_read(struct ni *ni, struct job *job, struct buffer *buffer) {
    struct board *board = ni->own;
    u32 words = (job->size + 3) >> 2, size = (words + (words & 1)) * 4 + ROUTE_BYTES + HEADER_BYTES, at = board->channel->next, slot;
    struct message *reply = (struct message *)(board->base + at);
    struct entry *entry;
    u32 front = board->entry[board->first].offset;
    if (UNLIKELY(board->count == board->slots || !fits(front, at, size, ni->own_limit))) {
        OFF_PATH("no room");
        return;
    }
    take_job(ni, job);
    slot = (board->first + board->count) & 15;
    entry = &board->entry[slot];
    board->count++;
    entry->offset = at;
    entry->size = size;
    entry->stream = stream_of(ni, ni->channel_count, job->source, job->target);
    entry->sequence = job->out->sequence++;
    entry->state = FETCHING;
    entry->again = 0;
    if (LIKELY(!job->out->waiting)) ni->cursor[entry->stream] = board->head + board->count - 1;
    job->out->waiting++;
    board->channel->next = following(at, size, ni->own_limit);
    reply->w1 = 7u << 26 | (-job->size & 3) << 24 | ni->me_word;
    reply->w2 = words << 16 | job->source << 8;
    reply->w3 = ni->channel_count << 24 | job->target << 16;
    reply->w1 |= job->place << 16;
    reply->w3 |= job->data->w3 >> 16 & 0xFF;
    reply->argument[0] = job->lock;
    reply->argument[1] = job->data->w0;
    reply->argument[2] = job->size;
    reply->argument[3] = job->value;
    ni->block_tail = post(ni, ni->block_tail, (u32)reply->payload, job->piece->pa + job->found, job->size, WAKE | 1, 0, job->data->w0);
    REGISTER_WRITE(PULSE, 1);
    release(ni, buffer);
}

/* Let a reply leave whose data have been fetched. */
void remote_fetched(struct ni *ni, u32 slot) {
    struct entry *entry = &ni->own->entry[slot];
    struct outgoing *out = &ni->outgoing[entry->stream];
    entry->state = WAITING;
    if (LIKELY(!out->flags && out->in_flight < ni->window)) {
        out->flags = 2;
        ni->ready[(ni->ready_head + ni->ready_count) & ni->ready_mask] = entry->stream;
        ni->ready_count++;
    }
}

/* Acknowledge a read in the outgoing queue whose reply is stored. */
void remote_done(struct ni *ni, u32 request) {
    struct board *board;
    struct entry *entry = meant(ni, request, &board);
    ni->storing--;
    ni->acks++;
    finish(ni, board, entry);
}
