/* Paths of injection.py and channel_queue.py. */
/* grim_send of one segment: poll once, check, build the header, notify. */
int send(struct grim *grim, u32 destination, u32 handler, const int *argument, u32 bytes, u32 channel) {
    struct queue *queue = &grim->queue[channel];
    struct inbox *inbox = &grim->inbox[channel];
    struct target *target = &grim->target[destination >> 24];
    if (UNLIKELY(!grim->enabled || grim->errors)) {
        OFF_PATH("error");
        return -1;
    }
    if (UNLIKELY(handler >= grim->handlers || channel >= grim->channels || destination >> 24 >= grim->nodes || bytes > 16u << 20)) {
        OFF_PATH("wrong argument");
        return -2;
    }
    if (LIKELY(grim->poll_first) && UNLIKELY(be32_load((u32 *)inbox->back) != inbox->position)) {
        OFF_PATH("messages wait");
        return -3;
    }
    if (UNLIKELY(queue->locked || queue->overflow || bytes > grim->segment)) {
        OFF_PATH("not at once");
        return -4;
    }
    if (UNLIKELY(!fits(queue->front, queue->back, ((bytes + 7) & ~7u) + ROUTE_BYTES + HEADER_BYTES, queue->limit))) {
        OFF_PATH("full");
        return -5;
    }
    inject(queue, ACTIVE << 26 | (-bytes & 3) << 24 | target->w1, (bytes + 3) >> 2 << 16 | target->w2, target->w3 | handler, argument, bytes);
    return 0;
}

/* Send a further segment of a long message. */
int send_segment(struct grim *grim, struct queue *queue, struct target *target, u32 handler, u32 total, u32 begin) {
    int argument[4] = {total, begin, 0, 0};
    if (UNLIKELY(total - begin <= grim->segment)) {
        OFF_PATH("the last one");
        return 0;
    }
    if (UNLIKELY(!fits(queue->front, queue->back, grim->segment + ROUTE_BYTES + HEADER_BYTES, queue->limit))) {
        OFF_PATH("full");
        return -1;
    }
    inject(queue, SEGMENT << 26 | target->w1, grim->segment >> 2 << 16 | target->w2, target->w3 | handler, argument, grim->segment);
    LOOP_AGAIN();
    return 1;
}

/* One iteration of the waiting loop. */
u32 pause(u32 turns) {
    CPU_PAUSE();
    if (UNLIKELY(--turns == 0)) {
        OFF_PATH("look again");
        return 0;
    }
    LOOP_AGAIN();
    return turns;
}

/* Send a message to this node itself. */
void send_to_self(struct grim *grim, struct piece *piece, u32 handler, const int *argument, u32 bytes) {
    piece->words[0] = handler;
    piece->words[1] = argument[0];
    piece->words[2] = argument[1];
    piece->words[3] = argument[2];
    piece->words[4] = argument[3];
    piece->bytes = bytes;
    piece->next = grim->queue[0].overflow;
    grim->queue[0].overflow = piece;
}

/* Append a handler's message to the overflow queue. */
void overflow_append(struct queue *queue, struct piece *piece, struct target *target, u32 handler, const int *argument, u32 bytes) {
    piece->words[0] = ACTIVE << 26 | (-bytes & 3) << 24 | target->w1;
    piece->words[1] = (bytes + 3) >> 2 << 16 | target->w2;
    piece->words[2] = target->w3 | handler;
    piece->words[3] = argument[0];
    piece->words[4] = argument[1];
    piece->words[5] = argument[2];
    piece->words[6] = argument[3];
    piece->bytes = bytes;
    piece->next = 0;
    queue->overflow->next = piece;
    queue->overflow = piece;
}

/* Send a message from the overflow queue to the NI. */
int overflow_send(struct queue *queue) {
    struct piece *piece = queue->overflow;
    if (UNLIKELY(!fits(queue->front, queue->back, ((piece->bytes + 7) & ~7u) + ROUTE_BYTES + HEADER_BYTES, queue->limit))) {
        OFF_PATH("full");
        return -1;
    }
    queue->overflow = piece->next;
    inject(queue, piece->words[0], piece->words[1], piece->words[2], (const int *)&piece->words[3], piece->bytes);
    return 0;
}

/* Additional cost of the hybrid queue: a second check for room, a second back pointer, and the payload's offset before
 * the header. */
u32 put_hybrid(struct queue *queue, u32 words) {
    u32 bytes = (words + (words & 1)) * 4, at = queue->payload_back, back;
    if (UNLIKELY(!fits(queue->payload_front, at, bytes, queue->payload_limit))) {
        OFF_PATH("full");
        return 0;
    }
    back = at + bytes;
    if (UNLIKELY(back >= queue->payload_limit)) {
        OFF_PATH("wraps");
        back = 0;
    }
    queue->payload_back = back;
    PIO_WRITE(BE32(at));
    return at;
}
