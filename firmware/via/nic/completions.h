/* Completion: status words and completion queues. */

/* Write length and status of a descriptor, and check for a completion queue. */
u32 write_status(struct endpoint *endpoint, u32 length, u32 status, u32 side, u32 *words, u32 *stores) {
    words[0] = length;
    words[1] = status | 1;
    *stores = *stores + 1;
    if (UNLIKELY(SHARED32(&(&endpoint->words->send_queue)[side - 1]))) {
        OFF_PATH("a completion queue");
        return 1;
    }
    return 0;
}

/* Record a completion until it is in host memory, and check whether a thread sleeps for the oldest one. */
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

/* Write an entry of a completion queue. */
u32 write_entry(struct queue *queue, u32 vi, u32 side, u32 *word, u32 *stores) {
    u32 place = queue->place, next = place + 1;
    *word = queue->valid | side << 8 | vi;
    if (UNLIKELY(next == queue->entries)) {
        OFF_PATH("round the queue");
        next = 0;
        queue->valid = (queue->valid + (1u << 10)) | VALID;
    }
    queue->place = next;
    *stores = *stores + 1;
    return queue->address + 4 * place;
}

/* Write a word of the event ring. */
u32 tell_kernel(struct layer *layer, u32 word, u32 *words) {
    u32 event = layer->event;
    layer->event = event + 1 & 0xFF;
    words[0] = VALID | word;
    layer->stores = layer->stores + 1;
    return SHARED32(&layer->shared->kernel) + 4 * event;
}
