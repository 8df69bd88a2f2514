/* Paths of dispatch.py and incoming.py. */
/* grim_poll without any message. */
u32 poll_empty(struct grim *grim) {
    struct inbox *inbox = &grim->inbox[0];
    if (UNLIKELY(!grim->enabled || grim->errors || grim->polling)) {
        OFF_PATH("error");
        return 1;
    }
    if (UNLIKELY(be32_load(inbox->back) != inbox->position)) {
        OFF_PATH("a message");
        return 1;
    }
    return 0;
}

/* Check a further endpoint's queue. */
u32 poll_next(struct grim *grim, u32 channel) {
    struct inbox *inbox = &grim->inbox[channel];
    if (UNLIKELY(be32_load(inbox->back) != inbox->position)) {
        OFF_PATH("a message");
        return channel;
    }
    LOOP_AGAIN();
    return channel + 1;
}

/* Poll a word of host memory in a spinning loop. */
u32 poll_spin(u32 *word, u32 now) {
    if (UNLIKELY(SHARED32(word) != now)) {
        OFF_PATH("it changed");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Dispatch a message: its header, its handler, the pointers. */
void dispatch(struct grim *grim, struct inbox *inbox, u32 *source, int *argument, void **payload, handler_call **function) {
    struct header *header = (struct header *)((u8 *)inbox->ring + inbox->position);
    u32 w1 = be32_load(&header->w1), w2 = be32_load(&header->w2), w3 = be32_load(&header->w3);
    if (UNLIKELY(w1 >> 26 != ACTIVE)) {
        OFF_PATH("a segment, or a report");
        return;
    }
    *source = (w1 & 0xFFFF) << 16 | w3 >> 24;
    argument[0] = BE32(header->argument[0]);
    argument[1] = BE32(header->argument[1]);
    argument[2] = BE32(header->argument[2]);
    argument[3] = BE32(header->argument[3]);
    *payload = header + 1;
    *function = grim->function[w3 & 0xFF];
    if (UNLIKELY(!*function)) {
        OFF_PATH("absent");
        return;
    }
    inbox->position = following(inbox->position, (((w2 >> 16) + 1) & ~1u) * 4 + HEADER_BYTES, inbox->limit);
    if (UNLIKELY(inbox->position - inbox->told >= inbox->limit >> 2)) {
        OFF_PATH("tell the NI");
        return;
    }
}

/* Publish the read position of a queue to the NI. */
void free_queue(struct inbox *inbox) {
    inbox->told = inbox->position;
    PIO_WRITE(BE32(inbox->position));
}

/* Check a segment of a tree's message: membership of the endpoint, and position after the segments before it. */
u32 goes_on(struct grim *grim, struct piece **table, struct header *header, u32 channel, u32 source) {
    struct piece *whole = table[source & 0xFF];
    if (UNLIKELY(!(grim->tree_channels[be32_load(&header->w1) >> 16 & 0xFF] >> channel & 1))) {
        OFF_PATH("not in the tree");
        return 0;
    }
    if (UNLIKELY(!whole || whole->bytes != (u32)BE32(header->argument[1]))) {
        OFF_PATH("the first one, or one before it is not here");
        return 0;
    }
    return 1;
}

/* Find the earlier segments of a long message. */
u32 collect_segment(struct piece **table, struct header *header, u32 source) {
    struct piece *whole = table[source & 0xFF];
    u32 bytes = (be32_load(&header->w2) >> 16) * 4, filled;
    if (UNLIKELY(!whole)) {
        OFF_PATH("the first one");
        return 0;
    }
    filled = whole->bytes;
    whole->bytes = filled + bytes;
    return filled;
}

/* Copy 32 bytes from memory to memory. */
const u32 *copy_line(u32 *to, const u32 *from, const u32 *end) {
    u32 a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
    a = from[4], b = from[5], c = from[6], d = from[7];
    to[4] = a;
    to[5] = b;
    to[6] = c;
    to[7] = d;
    if (UNLIKELY(from == end)) {
        OFF_PATH("done");
        return 0;
    }
    LOOP_AGAIN();
    return from + 8;
}
