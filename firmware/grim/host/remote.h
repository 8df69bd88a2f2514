/* Paths of memory_calls.py, memory.py, card_windows.py and driver.py. */
/* grim_sendMemory of one segment: poll once, check, look up the source, build the header, notify. */
int send_remote(struct grim *grim, struct block **blocks, u32 destination, u32 va, u32 source, u32 bytes, u32 lock, u32 value) {
    struct queue *queue = &grim->queue[0];
    struct inbox *inbox = &grim->inbox[0];
    struct target *target = &grim->target[destination >> 24];
    struct block *block = blocks[source >> 22 & 0xFF];
    int argument[4] = {va, lock, value, bytes};
    if (UNLIKELY(!grim->enabled || grim->errors)) {
        OFF_PATH("error");
        return -1;
    }
    if (UNLIKELY(destination >> 24 >= grim->nodes || bytes - 1 >= 16u << 20 || ((va | source | lock) & 3))) {
        OFF_PATH("wrong argument");
        return -2;
    }
    if (UNLIKELY(!block || source - block->va >= block->size || block->size - (source - block->va) < bytes)) {
        OFF_PATH("not pinned");
        return -3;
    }
    if (LIKELY(grim->poll_first) && UNLIKELY(be32_load((u32 *)inbox->back) != inbox->position)) {
        OFF_PATH("messages wait");
        return -4;
    }
    if (UNLIKELY(queue->locked || queue->overflow || bytes > grim->segment)) {
        OFF_PATH("not at once");
        return -5;
    }
    if (UNLIKELY(!fits(queue->front, queue->back, ((bytes + 7) & ~7u) + ROUTE_BYTES + HEADER_BYTES, queue->limit))) {
        OFF_PATH("full");
        return -6;
    }
    inject(queue, 4u << 26 | (-bytes & 3) << 24 | target->w1, (bytes + 3) >> 2 << 16 | target->w2, target->w3, argument, bytes);
    return 0;
}

/* Allocate a block from a region by first fit, and enter it into the table of blocks. */
u32 malloc_pinned(struct region *region, struct block **blocks, struct block *block, u32 bytes) {
    u32 granules = (bytes + 255) >> 8, at = region->taken[1] + 1;
    if (UNLIKELY(at + granules > 16384)) {
        OFF_PATH("no room");
        return 0;
    }
    region->taken[1] = at + granules;
    block->va = region->va + (at << 8);
    block->pa = region->pa + (at << 8);
    block->size = bytes;
    block->next = blocks[block->va >> 22 & 0xFF];
    blocks[block->va >> 22 & 0xFF] = block;
    return block->va;
}

/* Remove a block from the table. */
u32 free_pinned(struct block **blocks, u32 va) {
    struct block *block = blocks[va >> 22 & 0xFF];
    if (UNLIKELY(!block || block->va != va)) {
        OFF_PATH("another one");
        return 0;
    }
    blocks[va >> 22 & 0xFF] = block->next;
    return block->size;
}

/* Notify the NI of a freed block. */
u32 free_told(u32 *freed) {
    u32 number = *freed + 1;
    *freed = number;
    PIO_WRITE(BE32(number));
    PIO_WRITE(0x20000000);
    return number;
}

/* Write one word of a region's map, here and in the NI. */
u32 mark_word(struct region *region, u32 word, u32 mask) {
    u32 bits = region->bits[word] | mask;
    region->bits[word] = bits;
    PIO_WRITE(BE32(bits));
    LOOP_AGAIN();
    return word + 1;
}

/* Write a static entry of the translation cache. */
void load_entry(struct region *region) {
    PIO_WRITE(BE32(region->va));
    PIO_WRITE(BE32(region->pa));
    PIO_WRITE(BE32(4u << 20));
}

/* Write an entry of the table of card windows. */
void write_window(u32 begin, u32 size) {
    PIO_WRITE(BE32(begin));
    PIO_WRITE(BE32(size));
}

/* Pin one user-space page: find and mark its page-table entry. */
u32 *pin_page(u32 *directory, u32 va, u32 **list) {
    u32 *table = (u32 *)(directory[va >> 22] & ~0xFFFu), entry;
    if (UNLIKELY(!table)) {
        OFF_PATH("not mapped");
        return 0;
    }
    entry = table[va >> 12 & 0x3FF];
    if (UNLIKELY(!(entry & 1))) {
        OFF_PATH("not present");
        return 0;
    }
    table[va >> 12 & 0x3FF] = entry | 0x200;
    **list = entry & ~0xFFFu;
    *list += 1;
    LOOP_AGAIN();
    return table;
}

/* Handle the miss interrupt: the request, its block, and the answer without its pieces. */
int serve_miss(u32 *request, struct block **blocks) {
    u32 va = be32_load(request), size = be32_load(request + 1), entry = be32_load(request + 2), number = be32_load(request + 3);
    struct block *block = blocks[va >> 22 & 0xFF];
    if (UNLIKELY(!block || va - block->va >= block->size || block->size - (va - block->va) < size)) {
        OFF_PATH("refused");
        return -1;
    }
    PIO_WRITE(entry);
    PIO_WRITE(BE32(block->va));
    PIO_WRITE(BE32(number << 16));
    PIO_WRITE(BE32(block->va + block->size));
    PIO_WRITE(BE32(block->size));
    PIO_WRITE(0x60000000);
    return 0;
}

/* Write one piece of the answer. */
u32 *serve_piece(u32 *piece) {
    PIO_WRITE(BE32(piece[0]));
    PIO_WRITE(BE32(piece[1]));
    LOOP_AGAIN();
    return piece + 2;
}
