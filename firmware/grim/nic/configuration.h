/* Words that the host's driver writes before the firmware starts, in the order of boot.py, and the variables derived
 * from them. */
struct configuration {
    u32 counters, channels, routes, scoreboard, outgoing, incoming, stream_bytes, cursor, ready, held, queued, by_token, control, report, blocks, pointers;
    u32 buffer[2], queues, queue_stride, own_queue, tree_queues, tree_stride;
    u32 me, nodes, channel_count, trees, targets, slots, node_shift, channel_shift, streams, control_entries, block_count, buffer_bytes;
    u32 limit, own_limit, tree_limit, slot, host_slot, host_limit, window, retry_delay, sync_period, cut_through, least;
};
enum { NI_TOKENS = 12, TREE_TOKENS = 8, MOST_SOURCES = 64 };

static struct board boards[MOST_SOURCES];
static struct buffer buffers[2];
static u32 no_sentinel = SENTINEL; /* Never changed by a packet; used without cut-through. */

/* Lay out the scoreboard of one source channel behind the one before it; return the token after it. */
static u32 board_of(struct ni *ni, const struct configuration *c, u32 index, u32 base, u32 slots, u32 token) {
    struct board *board = &boards[index];
    u32 end = token + slots;
    board->slots = slots;
    board->first_token = token;
    board->base = base;
    board->entry = (struct entry *)c->scoreboard + token;
    board->channel = ni->channels + index;
    for (; token < end; token++) {
        ((struct entry *)c->scoreboard)[token].state = DONE;
        ni->by_token[token] = board;
    }
    return token;
}

static void make_boards(struct ni *ni, const struct configuration *c) {
    u32 token = 0, index = 0, tree;
    for (; index < c->channel_count; index++) token = board_of(ni, c, index, c->queues + index * c->queue_stride, c->slots, token);
    token = board_of(ni, c, index++, c->own_queue, NI_TOKENS, token);
    for (tree = 0; tree < c->trees; tree++) token = board_of(ni, c, index++, c->tree_queues + tree * c->tree_stride, TREE_TOKENS, token);
    ni->boards = boards;
    ni->own = &boards[c->channel_count];
    ni->sources = index;
}

static void make_buffers(struct ni *ni, const struct configuration *c) {
    u32 index;
    for (index = 0; index < 2; index++) {
        struct buffer *buffer = &buffers[index];
        buffer->data = (struct packet *)c->buffer[index];
        buffer->limit = c->buffer[index] + c->buffer_bytes;
        buffer->sentinel = c->cut_through ? (u32 *)(c->buffer[index] + c->cut_through - 4) : &no_sentinel;
        ni->sentinel[index] = buffer->sentinel;
        ni->seen[index] = SENTINEL;
        buffer->free = 1;
        buffer->pair = &buffers[1 - index];
    }
    ni->armed = 0;
    ni->other = &buffers[1];
}

/* Build the ring of control blocks; the engine stops at each until the next one is posted. */
static void make_blocks(struct ni *ni, const struct configuration *c) {
    u32 index;
    ni->block = (struct block *)c->blocks;
    ni->block_mask = c->block_count - 1;
    ni->pointer = (u32 *)c->pointers;
    ni->queued = (struct queued *)c->queued;
    dma_list(0, ni->block);
    for (index = 0; index < c->block_count; index++) ni->block[index].next = (u32)&ni->block[(index + 1) & ni->block_mask] | TERMINAL;
}

static void take_numbers(struct ni *ni, const struct configuration *c) {
    ni->me = c->me;
    ni->me_word = c->me << 8;
    ni->answer_word = ni->me_word | OWN_DEVICE;
    ni->nodes = c->nodes;
    ni->targets = c->targets;
    ni->channel_count = c->channel_count;
    ni->node_shift = c->node_shift;
    ni->channel_shift = c->channel_shift;
    ni->window = c->window;
    ni->limit = c->limit;
    ni->slot = c->slot;
    ni->host_slot = c->host_slot;
    ni->host_limit = c->host_limit;
    ni->own_limit = c->own_limit;
    ni->retry_delay = c->retry_delay;
    ni->cut_through = c->cut_through;
    ni->least = c->least;
    ni->prepared_skip = ~0u;
    ni->control_mask = c->control_entries - 1;
    ni->ready_mask = ni->held_mask = c->streams - 1;
}

static void clear(u32 begin, u32 bytes) {
    u32 *word = (u32 *)begin, *end = (u32 *)(begin + bytes);
    while (word < end) *word++ = 0;
}

/* The host writes the first four registers of a channel. */
static void clear_variables(const struct configuration *c) {
    u32 index;
    clear(c->counters, sizeof(struct ni));
    clear(c->outgoing, c->stream_bytes);
    clear(c->incoming, c->stream_bytes);
    clear(c->queued, c->block_count * sizeof(struct queued));
    clear(c->by_token, 256 * sizeof(struct board *));
    for (index = 0; index < c->channel_count; index++) clear(c->channels + index * sizeof(struct channel) + 16, 16);
}

static struct ni *configured(const struct configuration *c) {
    struct ni *ni = (struct ni *)c->counters;
    clear_variables(c);
    ni->channels = (struct channel *)c->channels;
    ni->behind_channels = ni->channels + c->channel_count;
    ni->routes = (struct route *)c->routes;
    ni->outgoing = (struct outgoing *)c->outgoing;
    ni->incoming = (struct incoming *)c->incoming;
    ni->cursor = (u32 *)c->cursor;
    ni->ready = (u16 *)c->ready;
    ni->held = (struct held *)c->held;
    ni->by_token = (struct board **)c->by_token;
    ni->control = (struct control *)c->control;
    ni->freed_word = (u32 *)AT_FREED;
    ni->kernel = (u32 *)AT_KERNEL;
    take_numbers(ni, c);
    report = (struct packet *)c->report;
    make_boards(ni, c);
    make_buffers(ni, c);
    make_blocks(ni, c);
    return ni;
}
