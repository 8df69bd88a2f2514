/* Code that several paths share, inlined. */
static inline u32 length_of(u32 w2) { return ((w2 >> 16) + (w2 >> 16 & 1)) * 4 + HEADER_BYTES; }

/* Off the counted path, executed firmware does something else and restarts its main loop (slow_path.h). */
#ifdef EXECUTED
#include "slow_path.h"
#else
#define INSTEAD(what) ((void)0)
#endif

static inline void wake(struct ni *ni, struct outgoing *out, u32 stream);

static inline u32 stream_of(struct ni *ni, u32 source, u32 vnn, u32 target) {
    return ((source << ni->node_shift | vnn) << ni->channel_shift) | target;
}

/* Start a packet on the idle send engine. The align register is written only when it changes, which is rare. */
static inline void start(struct ni *ni, u32 at, u32 skip, u32 limit) {
    if (UNLIKELY(skip != ni->prepared_skip)) {
        OFF_PATH("another length of route");
        ni->prepared_skip = skip;
        REGISTER_WRITE(SA, skip - WHOLE_WORDS(skip));
    }
    REGISTER_WRITE(SMP, at + WHOLE_WORDS(skip));
    REGISTER_WRITE(SMLT, limit);
    ni->busy = 1;
}

/* Write route and word 0 before the message, and start it on the link, which is free on this path. */
static inline void prepare(struct ni *ni, struct board *board, struct entry *entry, struct outgoing *out, u32 vnn, u32 token) {
    struct route *route = &ni->routes[vnn];
    struct message *message = (struct message *)(board->base + entry->offset);
    entry->state = SENT;
    out->in_flight++;
    message->route_high = route->high;
    message->route_low = route->low;
    message->w0 = GRIM_ID << 16 | token << 8 | entry->sequence;
    if (UNLIKELY(ni->busy)) {
        OFF_PATH("prepared only");
        ni->prepared = (u32)message;
        ni->prepared_limit = (u32)message + entry->size;
        ni->prepared_stream = entry->stream;
        ni->prepared_align = route->skip;
    } else {
        start(ni, (u32)message, route->skip, (u32)message + entry->size);
    }
}

/* Write an answer into the control-message queue, and start it on the free link. */
static inline void answer(struct ni *ni, u32 vnn, u32 w0, u32 w1) {
    struct control *entry = &ni->control[(ni->control_head + ni->control_waiting) & ni->control_mask];
    struct route *route = &ni->routes[vnn];
    entry->route_high = route->high;
    entry->route_low = route->low;
    entry->w0 = w0;
    entry->w1 = w1;
    if (UNLIKELY(ni->busy)) {
        OFF_PATH("the link is busy");
        ni->control_waiting++;
        ni->queued_control++;
        return;
    }
    ni->control_head++;
    start(ni, (u32)entry, route->skip, (u32)(entry + 1));
}

/* Take a packet: clear the flags, arm the other buffer, check the syndrome. */
static inline struct packet *packet(struct ni *ni, u32 length) {
    struct buffer *buffer = ni->armed, *other = ni->other;
    struct packet *data = buffer->data;
    REGISTER_WRITE(ISR, ISR_RECV);
    if (UNLIKELY(length != 8 && REGISTER_READ(RMP) != (u32)data + length + SRAM_WORD)) {
        OFF_PATH("not the length that the header says");
        INSTEAD(begin_again(ni, buffer));
    }
    buffer->free = 0;
    ni->early_offset = 0;
    if (UNLIKELY(!other->free)) {
        OFF_PATH("starved");
        ni->armed = 0;
        ni->starved++;
    } else {
        SHARED32(other->sentinel) = SENTINEL;
        REGISTER_WRITE(RMP, other->data);
        REGISTER_WRITE(RML, other->limit);
        ni->armed = other;
        ni->other = buffer;
    }
    if (UNLIKELY(data->w0 >> 16 != GRIM_ID || BYTE((u8 *)data + length))) {
        OFF_PATH("not to be believed");
        INSTEAD(not_believed(ni, buffer));
    }
    return data;
}

static inline void release(struct ni *ni, struct buffer *buffer) {
    buffer->free = 1;
    if (UNLIKELY(!ni->armed)) {
        OFF_PATH("starved until now");
        SHARED32(buffer->sentinel) = SENTINEL;
        REGISTER_WRITE(RMP, buffer->data);
        REGISTER_WRITE(RML, buffer->limit);
        ni->armed = buffer;
        ni->other = buffer->pair;
    }
}

static inline u32 fits(u32 front, u32 back, u32 size, u32 limit) {
    if (UNLIKELY(back < front)) {
        OFF_PATH("wrapped");
        return back + size < front;
    }
    if (LIKELY(back + size < limit)) return 1;
    return front != 0;
}

/* Check for room where a full queue is the usual case. */
static inline u32 full(u32 front, u32 back, u32 size, u32 limit) {
    if (LIKELY(back < front)) return back + size >= front;
    OFF_PATH("not wrapped");
    return back + size >= limit && !front;
}

static inline u32 following(u32 offset, u32 size, u32 limit) {
    offset += size;
    if (UNLIKELY(offset >= limit)) {
        OFF_PATH("wraps");
        offset = 0;
    }
    return offset;
}

/* Record the new back pointer of an endpoint's queue. A long message that is arriving there loses its place and begins
 * again. */
static inline void appended(struct ni *ni, struct channel *channel, u32 back) {
    channel->queue_back = back;
    if (UNLIKELY(ni->early_channel == channel)) {
        OFF_PATH("it begins again");
        ni->early_offset = 0;
    }
}

/* Post a control block for the host DMA. */
static inline u32 post(struct ni *ni, u32 tail, u32 from, u32 to, u32 size, u32 flags, struct buffer *frees, u32 key) {
    struct block *block = &ni->block[tail];
    u32 next = (tail + 1) & ni->block_mask;
    block->len = size;
    block->lar = from;
    block->eah = 0;
    block->eal = to;
    ni->queued[tail].frees = frees;
    ni->queued[tail].key = key;
    SHARED32(&block->next) = (u32)&ni->block[next] | flags;
    return next;
}

static inline u32 post_word(struct ni *ni, u32 tail, u32 value, u32 to, struct buffer *frees, u32 key) {
    u32 *from = &ni->pointer[tail * 2];
    *from = value;
    return post(ni, tail, (u32)from, to, 4, WAKE, frees, key);
}

/* Ring of a scoreboard: the slot of the next message, the slot after a slot, the number of the message in a slot. */
static inline u32 slot_behind(struct board *board) {
    u32 slot = board->first + board->count;
    if (UNLIKELY(slot >= board->slots)) {
        OFF_PATH("round the scoreboard");
        slot -= board->slots;
    }
    return slot;
}

static inline u32 slot_after(struct board *board, u32 slot) {
    slot++;
    if (UNLIKELY(slot == board->slots)) {
        OFF_PATH("round the scoreboard");
        slot = 0;
    }
    return slot;
}

static inline u32 number_of(struct board *board, u32 slot) {
    u32 ahead = slot - board->first;
    if (UNLIKELY((int)ahead < 0)) {
        OFF_PATH("round the scoreboard");
        ahead += board->slots;
    }
    return board->head + ahead;
}

/* Find the message in flight that an answer refers to. */
static inline struct entry *meant(struct ni *ni, u32 w0, struct board **board) {
    u32 token = w0 >> 8 & 0xFF;
    struct entry *entry;
    *board = ni->by_token[token];
    entry = &(*board)->entry[token - (*board)->first_token];
    if (UNLIKELY(entry->state != SENT || entry->sequence != (w0 & 0xFF))) {
        OFF_PATH("strange");
        ni->strange++;
    }
    return entry;
}

/* Complete the oldest message, whose successor is unacknowledged: free one entry and its place in the queue. */
static inline void finish(struct ni *ni, struct board *board, struct entry *entry) {
    struct outgoing *out = &ni->outgoing[entry->stream];
    struct entry *first = &board->entry[board->first];
    entry->state = DONE;
    out->in_flight--;
    if (LIKELY(entry == first)) {
        board->first = slot_after(board, board->first);
        board->count--;
        board->head++;
        if (UNLIKELY(board->count != 0)) {
            OFF_PATH("more in flight");
            board->channel->front = board->entry[board->first].offset;
        } else {
            SHARED32(&board->channel->front) = board->channel->next;
        }
    }
    if (UNLIKELY(out->waiting)) {
        OFF_PATH("others wait for the window");
        wake(ni, out, entry->stream);
    }
    if (UNLIKELY(board->blocked)) {
        OFF_PATH("the scoreboard was full");
        board->blocked = board->count == board->slots;
    }
}

static inline struct outgoing *enter(struct ni *ni, struct channel *channel, struct board *board, u32 index, u32 *slot_out, u32 *vnn_out) {
    struct message *message = (struct message *)(board->base + channel->next);
    u32 w1 = message->w1, w2 = message->w2, w3 = message->w3;
    u32 size = length_of(w2) + ROUTE_BYTES;
    u32 vnn = w2 >> 8 & 0xFF, target = w3 >> 16 & 0xFF, slot, stream;
    struct outgoing *out;
    struct entry *entry;
    if (UNLIKELY(size > ni->slot || vnn >= ni->nodes || target >= ni->targets || w1 >> 26 > 0x1F)) {
        OFF_PATH("no message");
        ni->errors++;
    }
    stream = stream_of(ni, index, vnn, target);
    out = &ni->outgoing[stream];
    slot = slot_behind(board);
    entry = &board->entry[slot];
    board->count++;
    entry->offset = channel->next;
    entry->size = size;
    entry->stream = stream;
    entry->sequence = out->sequence++;
    entry->state = WAITING;
    entry->again = 0;
    channel->next = following(channel->next, size, ni->limit);
    *slot_out = slot;
    *vnn_out = vnn;
    return out;
}
