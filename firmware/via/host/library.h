/* User library. */

/* Post: check for room in the work queue, link the descriptor to the previous one, create the request to the kernel. */
u32 post_user(struct queue *queue, struct descriptor *descriptor, u32 handle, u32 vi, struct request *request) {
    struct descriptor *before;
    u32 posted;
    if (UNLIKELY(queue == 0) || UNLIKELY(queue->magic != VI_MAGIC) || UNLIKELY(descriptor == 0)) {
        OFF_PATH("invalid parameter");
        return 5;
    }
    if (UNLIKELY(LOCKED_EXCHANGE(&queue->lock, 1))) {
        OFF_PATH("another thread is here");
        return 1;
    }
    before = queue->newest;
    posted = queue->posted;
    if (UNLIKELY(posted >= queue->most)) {
        OFF_PATH("too many are posted");
        return 1;
    }
    be32_store(&descriptor->length, 0);
    be32_store(&descriptor->status, 0);
    be32_store(&before->next, (u32)descriptor);
    be32_store(&before->next_handle, handle);
    queue->newest = descriptor;
    queue->posted = posted + 1;
    request->code = 0x80001;
    request->vi = vi;
    request->descriptor = (u32)descriptor;
    request->handle = handle;
    request->length = sizeof *request;
    SHARED32(&queue->lock) = 0;
    return 0;
}

/* VipSendDone, VipRecvDone: check the VI's handle and the oldest descriptor, under the lock of other threads. */
u32 look_done(struct queue *queue, struct descriptor **found) {
    struct descriptor *oldest;
    u32 status;
    if (UNLIKELY(queue == 0) || UNLIKELY(queue->magic != VI_MAGIC) || UNLIKELY(found == 0)) {
        OFF_PATH("invalid parameter");
        return 5;
    }
    if (UNLIKELY(LOCKED_EXCHANGE(&queue->lock, 1))) {
        OFF_PATH("another thread is here");
        return 1;
    }
    *found = 0;
    if (UNLIKELY(queue->posted == 0)) {
        OFF_PATH("nothing is posted");
        return 1;
    }
    oldest = queue->oldest;
    status = be32_load((const u32 *)&SHARED32(&oldest->status));
    if (UNLIKELY(status & 1)) {
        OFF_PATH("it is done");
        *found = oldest;
    }
    SHARED32(&queue->lock) = 0;
    return 1;
}

/* Take back a complete descriptor. */
struct descriptor *take_done(struct queue *queue) {
    struct descriptor *oldest = queue->oldest;
    queue->oldest = (struct descriptor *)be32_load(&oldest->next);
    queue->posted = queue->posted - 1;
    return oldest;
}

/* VipCQDone: check the completion queue's handle and the next entry, under the lock of other threads. */
u32 look_entry(struct completions *queue, u32 *found) {
    if (UNLIKELY(queue == 0) || UNLIKELY(queue->magic != CQ_MAGIC) || UNLIKELY(found == 0)) {
        OFF_PATH("invalid parameter");
        return 5;
    }
    if (UNLIKELY(LOCKED_EXCHANGE(&queue->lock, 1))) {
        OFF_PATH("another thread is here");
        return 1;
    }
    *found = 0;
    if (UNLIKELY(SHARED32(queue->place) != 0)) {
        OFF_PATH("something is done");
        *found = 1;
    }
    SHARED32(&queue->lock) = 0;
    return 1;
}

/* Take the entry that VipCQDone has found. */
u32 take_entry(struct completions *queue) {
    u32 *at = queue->place, word = be32_load(at);
    if (UNLIKELY(word >> 10 != queue->round)) {
        OFF_PATH("overrun");
        return 0;
    }
    *at = 0;
    at++;
    if (UNLIKELY(at == queue->end)) {
        OFF_PATH("round the queue");
        queue->round++;
        at = queue->first;
    }
    queue->place = at;
    return word;
}
