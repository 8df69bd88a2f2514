/* Sending of messages. */

/* Read the three control words of a descriptor: find the VI, check the connection, and branch on the contents. */
u32 send_begin(struct layer *layer) {
    struct ring *ring = &layer->sends;
    struct message *now = &layer->now;
    struct endpoint *endpoint;
    u32 control, number = layer->number + 1 & 0xFFFF;
    if (UNLIKELY(ring->tail - ring->at < 3)) {
        OFF_PATH("nothing there");
        return 0;
    }
    control = take(ring);
    now->descriptor = take(ring);
    now->length = take(ring);
    endpoint = &layer->endpoints[control >> 21 & 0x7F];
    layer->number = number;
    now->key = endpoint->key | number;
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
    if (UNLIKELY(control & (3u << 28 | 1u << 20))) {
        OFF_PATH("inline, immediate or refused");
        return 2;
    }
    return 1;
}

/* Read address and handle of an RDMA write. */
void send_write(struct layer *layer) {
    struct message *now = &layer->now;
    now->words[0] = take(&layer->sends);
    now->words[1] = take(&layer->sends);
    now->before = 8;
    now->kind = 3;
}

/* Read an inline message of one or two words. */
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

/* Read a further word of an inline message. */
void send_inline_word(struct layer *layer, u32 at) {
    layer->now.words[at] = take(&layer->sends);
}

/* Read the next entry of the page list. */
void send_page(struct layer *layer) {
    struct message *now = &layer->now;
    struct ring *ring = &layer->sends;
    u32 entries = now->entries;
    if (UNLIKELY(entries == 0) || UNLIKELY(ring->tail - ring->at < 2)) {
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

/* Create the header of the next packet. */
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
    endpoint->sequence = sequence + 1 & 0xFFFF;
    last = !(now->entries | now->left | now->fetching | now->behind);
    header[0] = now->key;
    header[1] = size << 29 | now->peer << 22 | now->kind << 18 | now->first << 17 | last << 16 | sequence;
    now->first = 0;
    return last;
}

/* The last packet has left: free the queue cache, and check for low water. */
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

/* Reliable connection: queue the message for its acknowledgement. */
void send_unanswered(struct layer *layer) {
    struct message *now = &layer->now;
    struct endpoint *endpoint = now->endpoint;
    u32 newest = endpoint->newest;
    struct unanswered *one = &endpoint->unanswered[newest & 15];
    endpoint->newest = newest + 1;
    one->number = now->key & 0xFFFF;
    one->descriptor = now->descriptor;
    one->length = now->length;
    one->operation = now->kind << 16;
    SHARED32(&endpoint->words->left) = newest + 1;
}
