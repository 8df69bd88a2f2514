/* Paths of multicast.py. */
/* Return true if the tree's queue has room for a copy for two children, and one endpoint of this host for the message. */
static inline u32 tree_takes(struct ni *ni, struct tree *tree, struct board *board, u32 tail, u32 length) {
    u32 place = SHARED32(&tree->place), mask = place & 0xFF;
    struct channel *channel = &ni->channels[ni->first_channel[mask]];
    if (UNLIKELY(!SHARED32(&tree->known))) {
        OFF_PATH("unknown");
        return 0;
    }
    if (UNLIKELY(ni->reports_afar >= 256)) {
        OFF_PATH("too many reports");
        return 0;
    }
    if (UNLIKELY(board->count + 2 > 8 || !fits(board->entry[board->first].offset, tail, length + ROUTE_BYTES, ni->tree_limit))) {
        OFF_PATH("no room for a copy");
        return 0;
    }
    if (UNLIKELY(!fits(SHARED32(&channel->host_front), channel->queue_back, length, ni->host_limit))) {
        OFF_PATH("no room at the endpoint");
        return 0;
    }
    return place;
}

/* Check a received tree message: order, this NI's place in the tree, room. */
void multicast_look(struct ni *ni, struct replica *job) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    u32 number = data->w1 >> 16 & 0xFF;
    if (UNLIKELY(in->expected != (data->w0 & 0xFF) || number >= ni->tree_count)) {
        OFF_PATH("out of order, or no tree");
        return;
    }
    job->data = data;
    job->length = length;
    job->source = source;
    job->board = &ni->tree_boards[number];
    job->place = tree_takes(ni, &ni->trees[number], job->board, job->board->channel->next, length);
    if (UNLIKELY(!job->place)) {
        OFF_PATH("no room");
        return;
    }
    in->expected++;
    in->refusing = 0;
}

/* Check a message of this host for a tree rooted here. */
void multicast_local(struct ni *ni, struct replica *job, struct board *board, u32 slot) {
    struct entry *entry = &board->entry[slot];
    struct message *message = (struct message *)(board->base + entry->offset);
    struct outgoing *out;
    u32 number = message->w1 >> 16 & 0xFF, length = entry->size - ROUTE_BYTES, stream;
    if (UNLIKELY(number >= ni->tree_count)) {
        OFF_PATH("no tree");
        return;
    }
    job->data = (struct packet *)&message->w0;
    job->length = length;
    job->board = &ni->tree_boards[number];
    job->place = tree_takes(ni, &ni->trees[number], job->board, job->board->channel->next, length);
    if (UNLIKELY(job->place >> 24 != ni->me)) {
        OFF_PATH("the root is elsewhere");
        return;
    }
    if (LIKELY(job->place)) {
        out = next_ready(ni, &stream);
        entry->state = SENT;
        out->in_flight++;
        out->waiting--;
        ni->cursor[stream] = number_of(board, slot) + 1;
        message->w0 = GRIM_ID << 16 | (board->first_token + slot) << 8 | entry->sequence;
        wake(ni, out, stream);
    }
}

/* Complete a message that was delivered to this host and copied for all children; free its place in the queue. */
void multicast_done(struct ni *ni, struct board *board, struct entry *entry) { finish(ni, board, entry); }

/* Copy one line. */
void multicast_copy(u32 *to, u32 *from, u32 *end) {
    u32 a = from[0], b = from[1], c = from[2], d = from[3], e = from[4], f = from[5], g = from[6], h = from[7];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
    to[4] = e;
    to[5] = f;
    to[6] = g;
    to[7] = h;
    if (UNLIKELY(from + 8 == end)) {
        OFF_PATH("all of it");
        return;
    }
    LOOP_AGAIN();
}

/* Write the copy's header, and its entry for one child, whose stream is ready. */
void multicast_entry(struct ni *ni, struct replica *job, struct packet *copy, u32 vnn, u32 number, u32 at) {
    struct board *board = job->board;
    u32 stream = stream_of(ni, ni->channel_count + 1 + number, vnn, 0), slot = (board->first + board->count) & 7;
    struct outgoing *out = &ni->outgoing[stream];
    struct entry *entry = &board->entry[slot];
    u32 w1 = job->data->w1;
    u32 w2 = job->data->w2;
    if (LIKELY(!(w1 & 4u << 26))) w2 = (w2 & 0xFFFF0000) | (w1 & 0xFF00) | job->data->w3 >> 24;
    copy->w1 = (w1 & 0xFFFF0000) | 4u << 26 | ni->me_word | OWN_DEVICE;
    copy->w2 = w2;
    copy->w3 = (job->data->w3 & 0xFFFF) | (ni->channel_count + 1 + number) << 24;
    board->count++;
    board->channel->next = following(at, job->length + ROUTE_BYTES, ni->tree_limit);
    entry->offset = at;
    entry->size = job->length + ROUTE_BYTES;
    entry->stream = stream;
    entry->sequence = out->sequence++;
    entry->state = WAITING;
    entry->again = 0;
    if (LIKELY(!out->waiting)) ni->cursor[stream] = board->head + board->count - 1;
    out->waiting++;
    if (LIKELY(!out->flags && out->in_flight < ni->window)) {
        out->flags = 2;
        ni->ready[(ni->ready_head + ni->ready_count) & ni->ready_mask] = stream;
        ni->ready_count++;
    }
    ni->copies++;
}

/* Deliver to one endpoint of this host. */
void multicast_deliver(struct ni *ni, struct replica *job, u32 target, struct buffer *buffer) {
    struct channel *channel = &ni->channels[target];
    u32 back = channel->queue_back, tail;
    tail = post(ni, ni->block_tail, (u32)job->data, channel->host_base + back + 64, job->length, 0, 0, job->data->w0);
    back = following(back, job->length, ni->host_limit);
    appended(ni, channel, back);
    ni->block_tail = post_word(ni, tail, back, channel->host_base, buffer, job->data->w0);
    REGISTER_WRITE(PULSE, 1);
}
