/* Paths of buffering.py: incoming queues at the receiving NI (paper 000, 4.3.3). */
/* Poll the front pointer of an endpoint. */
struct channel *poll_front(struct channel *channel, u32 seen) {
    if (UNLIKELY(SHARED32(&channel->host_front) != seen)) {
        OFF_PATH("it has");
        return channel;
    }
    return channel + 1;
}

/* Deliver waiting messages to an endpoint that has made room. */
u32 front_moved(struct ni *ni, struct channel *channel, u32 *seen) {
    struct waiting *queue = &ni->waiting[channel - ni->channels];
    *seen = SHARED32(&channel->host_front);
    if (LIKELY(!queue->count)) return 0;
    return 1;
}

/* Test whether messages wait before a new one for the same endpoint. */
u32 queue_look(struct ni *ni, u32 target) {
    struct waiting *queue = &ni->waiting[target];
    if (LIKELY(!queue->count)) return 1;
    return 0;
}

/* Accept a message into the incoming queue: sequence number, room, queue entry, another buffer armed. */
void queue_message(struct ni *ni) {
    u32 length = length_of(ni->armed->data->w2), target, source;
    struct buffer *buffer = ni->armed;
    struct packet *data = packet(ni, length);
    struct incoming *in = look(ni, data, &target, &source);
    struct channel *channel = &ni->channels[target];
    struct waiting *queue = &ni->waiting[target];
    if (UNLIKELY(length > ni->host_slot || data->w1 >> 26 >= 3 || in->expected != (data->w0 & 0xFF))) {
        OFF_PATH("no message for a host, or out of order");
        return;
    }
    if (LIKELY(full(SHARED32(&channel->host_front), channel->queue_back, length, ni->host_limit) || queue->count)) {
        if (UNLIKELY(queue->count == ni->share)) {
            OFF_PATH("the queue is full too");
            return;
        }
        in->expected++;
        in->refusing = 0;
        queue->buffer[(queue->first + queue->count) & ni->share_mask] = buffer;
        queue->count++;
    }
}

/* Start the DMA of an incoming queue's oldest message to the host. */
void queue_drain(struct ni *ni, struct channel *channel, struct waiting *queue) {
    struct buffer *buffer = queue->buffer[queue->first & ni->share_mask];
    u32 length = length_of(buffer->data->w2), back = channel->queue_back, tail;
    if (UNLIKELY(!fits(SHARED32(&channel->host_front), back, length, ni->host_limit))) {
        OFF_PATH("no room");
        return;
    }
    queue->first++;
    queue->count--;
    tail = post(ni, ni->block_tail, (u32)buffer->data, channel->host_base + back + 64, length, 0, 0, buffer->data->w0);
    back = following(back, length, ni->host_limit);
    appended(ni, channel, back);
    ni->block_tail = post_word(ni, tail, back, channel->host_base, buffer, buffer->data->w0);
    REGISTER_WRITE(PULSE, 1);
}

/* Record for a report the end of the incoming queue before it. */
u32 queue_end(struct ni *ni, u32 target) {
    struct waiting *queue = &ni->waiting[target];
    return queue->first + queue->count;
}

/* Test whether the messages before a report have left the queue. */
u32 queue_passed(struct ni *ni, u32 target, u32 end) {
    return (int)(ni->waiting[target].first - end) >= 0;
}
