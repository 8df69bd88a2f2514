/* Posting without the kernel. */

struct mapped { u32 *ring, *tail_at, *head_at, tail, head; };

/* Write a pointer to a descriptor, with its handle, and the tail. */
u32 post_pointer(struct mapped *mapped, u32 va, u32 handle) {
    u32 tail = mapped->tail;
    if (UNLIKELY(tail - mapped->head > 254)) {
        OFF_PATH("no room");
        return 1;
    }
    PIO_WRITE(BE32(va | 1));
    PIO_WRITE(BE32(handle));
    mapped->tail = tail + 2;
    PIO_WRITE(BE32(tail + 2));
    return 0;
}

/* Write a descriptor's control segment, and the tail. */
u32 post_image(struct mapped *mapped, const struct descriptor *descriptor, u32 handle, u32 words) {
    u32 tail = mapped->tail;
    if (UNLIKELY(tail - mapped->head > 256 - words)) {
        OFF_PATH("no room");
        return 1;
    }
    PIO_WRITE(BE32((u32)descriptor));
    PIO_WRITE(BE32(handle));
    PIO_WRITE(descriptor->reserved);
    PIO_WRITE(descriptor->count_control);
    PIO_WRITE(descriptor->reserved_2);
    PIO_WRITE(descriptor->immediate);
    PIO_WRITE(descriptor->length);
    PIO_WRITE(descriptor->status);
    mapped->tail = tail + words;
    PIO_WRITE(BE32(tail + words));
    return 0;
}

/* Write one of its segments. */
void post_image_segment(const u32 *segment) {
    PIO_WRITE(segment[0]);
    PIO_WRITE(segment[1]);
    PIO_WRITE(segment[2]);
    PIO_WRITE(segment[3]);
    LOOP_AGAIN();
}

/* Read how much of the queue cache the NIC has used. */
u32 look_room(struct mapped *mapped) {
    u32 head = BE32(PIO_READ());
    mapped->head = head;
    LOOP_AGAIN();
    return mapped->tail - head;
}
