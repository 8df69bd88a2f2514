/* Outgoing messages (outgoing.py). */

/* Queue a control packet for the send engine. */
static inline __attribute__((always_inline)) void answer(struct am2 *am2, u32 node, u32 header, u32 code) {
    struct control *control = &am2->controls[am2->control_last & 63];
    control->node = node;
    control->header = header | 1u << 28;
    control->code = code;
    am2->control_last = am2->control_last + 1;
}

/* Queue the message on a channel for the send engine. */
static inline __attribute__((always_inline)) void ready(struct am2 *am2, struct channel *channel) {
    am2->ready[am2->ready_last & 7] = channel;
    am2->ready_last = am2->ready_last + 1;
    am2->ready_count = am2->ready_count + 1;
}

/* Hold a queue whose next message cannot be sent now. */
void am2_hold(struct sending *send) { send->held = OWNED; }

/* Take the next message of a queue: check its destination and contents, and assign a channel. */
void am2_take(struct am2 *am2, struct sending *send, u32 reply) {
    struct descriptor *at = send->next, *next = at + 1;
    struct endpoint *endpoint = send->endpoint;
    u32 head = SHARED32(&at->head), where = SHARED32(&at->where), length = SHARED32(&at->length);
    u32 node = where >> 16, size = 0, block = length & 0xFFFF, taken = send->taken, header;
    struct node *to = &am2->nodes[node];
    struct channel *channel;
    if (UNLIKELY(node >= NODES) || UNLIKELY(!to->routed)) {
        OFF_PATH("there is no such node");
        return;
    }
    if (UNLIKELY((head >> 28 & 7) != SHORT)) {
        OFF_PATH("payload");
        size = length >> 16;
    }
    if (UNLIKELY(size > am2->medium) || UNLIKELY(block >= BLOCKS)) {
        OFF_PATH("too long, or of no block");
        return;
    }
    channel = to->free[reply];
    if (UNLIKELY(channel == 0) || UNLIKELY(am2->ready_count >= 4)) {
        OFF_PATH("it cannot go now");
        return;
    }
    to->free[reply] = channel->free;
    SHARED32(&at->head) = head & ~OWNED;
    if (UNLIKELY(next == send->end)) {
        OFF_PATH("round the queue");
        next = send->first;
    }
    send->next = next;
    send->taken = taken + 1;
    header = channel->header;
    channel->header = (header & ~0xFFu) | (header + 1 & 0xFF);
    channel->at = at;
    channel->queue = send;
    channel->size = size;
    channel->address = endpoint->staging + (block << am2->medium_log);
    channel->sent = 0;
    channel->name = am2->me | endpoint->number << 17 | reply << 16 | (taken & 0xFFFF);
    endpoint->left = endpoint->left - 1;
    endpoint->bytes = endpoint->bytes - size;
    ready(am2, channel);
}

/* Write the words before the arguments of the oldest queued message. */
static inline __attribute__((always_inline)) struct channel *launch(struct am2 *am2, u32 *lead) {
    struct channel *channel = am2->ready[am2->ready_first & 7];
    struct descriptor *at = channel->at;
    struct endpoint *endpoint = channel->queue->endpoint;
    if (UNLIKELY(channel->queue == 0)) {
        OFF_PATH("it is done with");
        return 0;
    }
    am2->ready_first = am2->ready_first + 1;
    am2->ready_count = am2->ready_count - 1;
    channel->sent = channel->sent + 1;
    lead[0] = SHARED32(&at->head);
    lead[1] = channel->node << 16 | (SHARED32(&at->where) & 0xFFFF);
    lead[2] = SHARED32(&at->tag[0]);
    lead[3] = SHARED32(&at->tag[1]);
    lead[4] = channel->size << 16;
    lead[5] = SHARED32(&at->offset);
    lead[6] = endpoint->tag[0];
    lead[7] = endpoint->tag[1];
    return channel;
}

/* Compute the packet size of a short message. */
u32 am2_launch(struct am2 *am2, u32 *lead, u32 *header) {
    struct channel *channel = launch(am2, lead);
    u32 count = lead[0] >> 16 & 15, bytes = 32 + (count << 2);
    header[0] = channel->name;
    header[1] = channel->header | (bytes & 7) << 29;
    return bytes;
}

/* Launch a message whose payload has been fetched. */
u32 am2_launch_payload(struct am2 *am2, u32 *lead, u32 *header) {
    struct channel *channel = launch(am2, lead);
    u32 size = channel->size;
    header[0] = channel->name;
    header[1] = channel->header | (size & 7) << 29;
    return size;
}

/* Launch the oldest control packet. */
u32 am2_control(struct am2 *am2, u32 *words, u32 *header) {
    struct control *control = &am2->controls[am2->control_first & 63];
    u32 told = am2->told;
    am2->control_first = am2->control_first + 1;
    am2->told = told + 1;
    header[0] = am2->me | 127u << 17 | (told & 0x1FFFF);
    header[1] = control->header;
    words[0] = control->code;
    words[1] = words[2] = words[3] = words[4] = words[5] = 0;
    return control->node;
}

/* Handle a control packet: find the message on its channel, and stop its timer. */
struct channel *am2_answered(struct am2 *am2, u32 node, u32 header) {
    struct channel *channel = &am2->nodes[node].channels[header >> 8 & 0xFF], *before, *after;
    if (UNLIKELY((channel->header ^ header) & 0xFF) || UNLIKELY(channel->queue == 0)) {
        OFF_PATH("late");
        return 0;
    }
    before = channel->before;
    after = channel->after;
    if (UNLIKELY(before != 0)) {
        OFF_PATH("not the first");
        before->after = after;
        return channel;
    }
    am2->due_first = after;
    if (UNLIKELY(after == 0)) {
        OFF_PATH("the only one");
        am2->due_last = 0;
        return channel;
    }
    after->before = 0;
    return channel;
}

/* Ignore the reply to a finished message. */
u32 am2_answered_late(struct am2 *am2, u32 node, u32 header) {
    struct channel *channel = &am2->nodes[node].channels[header >> 8 & 0xFF];
    return (channel->header ^ header) & 0xFF;
}

/* Finish a message: free its channel, and return its descriptor to the host. */
void am2_freed(struct am2 *am2, struct channel *channel, u32 reply) {
    struct sending *send = channel->queue;
    struct descriptor *at = channel->at, *oldest = send->oldest, *next;
    struct node *to = &am2->nodes[channel->node];
    channel->queue = 0;
    channel->free = to->free[reply];
    to->free[reply] = channel;
    SHARED32(&at->head) = 0;
    if (UNLIKELY(at != oldest)) {
        OFF_PATH("not in order");
        return;
    }
    next = oldest + 1;
    if (UNLIKELY(next == send->end)) {
        OFF_PATH("round the queue");
        next = send->first;
    }
    send->oldest = next;
    send->freed = send->freed + (1u << 16);
    SHARED32(send->told) = send->freed;
}

/* Time-out: queue the message on a channel for the send engine again. */
u32 am2_resend(struct am2 *am2, struct channel *channel) {
    if (UNLIKELY(channel->sent > am2->retries)) {
        OFF_PATH("often enough");
        return 0;
    }
    am2->resent = am2->resent + 1;
    if (UNLIKELY(channel->size != 0)) {
        OFF_PATH("payload");
        return channel->address;
    }
    ready(am2, channel);
    return 1;
}

/* Return a message: find its place in the sender's reply queue. */
struct descriptor *am2_return(struct endpoint *endpoint, struct descriptor *from, u32 code, u32 reply, u32 number) {
    struct receiving *queue = &endpoint->receive[1];
    struct descriptor *at = queue->next, *next = at + 1;
    u32 told = queue->told + 1, where = SHARED32(&from->where);
    if (UNLIKELY(SHARED32(&at->head) & OWNED)) {
        OFF_PATH("no place");
        return 0;
    }
    if (UNLIKELY(next == queue->end)) {
        OFF_PATH("round the queue");
        next = queue->first;
    }
    queue->next = next;
    queue->told = told;
    SHARED32(&at->where) = where >> 16 << 24 | (where & 127) << 17 | reply << 16 | (number & 0xFFFF);
    SHARED32(&at->head) = (SHARED32(&from->head) & ~(127u << 20)) | OWNED | 1u << 27 | code << 20;
    SHARED32(endpoint->arrived) = endpoint->receive[0].told << 16 | (told & 0xFFFF);
    return at;
}

/* Copy one of its words. */
u32 am2_return_word(u32 *to, const u32 *from, u32 left) {
    SHARED32(to) = SHARED32(from);
    if (UNLIKELY(left == 0)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return left - 1;
}
