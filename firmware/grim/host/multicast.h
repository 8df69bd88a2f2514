/* Paths of tree_calls.py and trees.py. */
/* Write this NI's place in a tree, and its endpoints in the tree. */
void tree_place(struct grim *grim, u32 tree, u32 place, u32 known) {
    grim->tree_channels[tree] = place & 0xFF;
    PIO_WRITE(BE32(place));
    PIO_WRITE(BE32(known));
}

/* Compute the place of one node of a tree from its used descendants. */
u32 tree_shape(struct member *heap, u32 index, u32 count, u32 root) {
    struct member *self = &heap[index], *below = &heap[2 * index + 1];
    u32 left = self->vnn, right = self->vnn, used = self->channels;
    if (LIKELY(2 * index + 1 < count)) {
        if (LIKELY(below->used)) left = below->vnn;
        used |= below->used;
    }
    if (LIKELY(2 * index + 2 < count)) {
        if (LIKELY(below[1].used)) right = below[1].vnn;
        used |= below[1].used;
    }
    self->used = used;
    self->place = root << 24 | left << 16 | right << 8 | self->channels;
    LOOP_AGAIN();
    return index - 1;
}
