/* RDMA writes. */

struct writing { u32 active, va, handle, length, page, frame, refused; };
struct written { struct endpoint *endpoint; struct writing *writing; u32 generation, named; };
struct region { u32 handle, va, size, tag, table, flags, unused[2]; };
struct write_words { u32 writes, taken, scratch; };

/* Read address and handle at the start of an RDMA write. */
void write_begin(struct writing *writing, const u32 *payload) {
    writing->va = payload[0];
    writing->handle = payload[1];
    writing->length = 0;
    writing->page = 0xFFFFFFFF;
    writing->active = 1;
}

/* Check that the range is registered for RDMA writes under the VI's tag. */
u32 write_check(struct region *regions, u32 most, struct writing *writing, u32 *tag, u32 size) {
    u32 handle = writing->handle, va = writing->va;
    struct region *region = &regions[handle & 0xFFF];
    if (UNLIKELY((handle & 0xFFF) >= most) || UNLIKELY(SHARED32(&region->handle) != handle) || UNLIKELY(SHARED32(&region->tag) != SHARED32(tag))) {
        OFF_PATH("not its memory");
        return 0;
    }
    if (UNLIKELY(va < SHARED32(&region->va)) || UNLIKELY(va - SHARED32(&region->va) + size > SHARED32(&region->size))) {
        OFF_PATH("beyond it");
        return 0;
    }
    return 1;
}

/* Compute the host address of a page's frame in the table. */
u32 write_look_up(struct region *region, struct writing *writing) {
    u32 page = (writing->va >> 12) - (SHARED32(&region->va) >> 12);
    writing->page = page;
    return SHARED32(&region->table) + 4 * page;
}

/* Deliver a piece within a page. */
u32 write_piece(struct writing *writing, u32 size) {
    u32 va = writing->va, part = 4096 - (va & 4095);
    if (LIKELY(part > size)) part = size;
    writing->va = va + part;
    writing->length = writing->length + part;
    return writing->frame + (va & 4095);
}

/* Write the next slot of the kernel's buffer and its header. The number of the connection's peer gets a mark that no packet
 * matches, so that each later packet takes the slow path. */
u32 write_to_kernel(struct write_words *words, struct endpoint *endpoint, struct writing *writing, u32 *given, u32 stride, u32 size, u32 named, struct written *pieces, u32 *header) {
    struct written *piece;
    u32 count = *given, from = endpoint->from & 0x7FFFFFFF, at;
    if (UNLIKELY(count - SHARED32(&words->taken) > 31)) {
        OFF_PATH("the buffer is full");
        return 0;
    }
    if (UNLIKELY(from != named >> 16)) {
        OFF_PATH("not connected");
        return 0;
    }
    endpoint->from = from | 0x80000000;
    at = SHARED32(&words->writes) + writing->page;
    writing->page = writing->page + stride;
    *given = count + 1;
    header[0] = writing->va;
    header[1] = writing->handle;
    header[2] = size;
    header[3] = VALID | (endpoint->generation & 0x3FFFFF) << 8 | endpoint->number;
    piece = &pieces[count & 31];
    piece->endpoint = endpoint;
    piece->writing = writing;
    piece->generation = endpoint->generation;
    piece->named = named;
    writing->va = writing->va + size;
    writing->length = writing->length + size;
    return at;
}

/* Handle a packet completed by the kernel: rejected, last, connection unchanged. */
u32 write_copied(struct written *pieces, u32 *dealt, u32 refused) {
    u32 count = *dealt;
    struct written *piece = &pieces[count & 31];
    *dealt = count + 1;
    if (UNLIKELY(refused >> (count & 31) & 1)) {
        OFF_PATH("refused");
        piece->writing->refused = 1;
        return 0;
    }
    if (UNLIKELY(state_of(piece->endpoint) != CONNECTED) || UNLIKELY(piece->endpoint->generation != piece->generation)) {
        OFF_PATH("another connection");
        return 0;
    }
    return piece->named;
}

/* Handle a packet after pieces that the kernel copies, found by that mark: count the pieces to wait for. */
u32 behind_write(struct endpoint *endpoint, struct write_words *words, u32 given) {
    endpoint->from &= 0x7FFFFFFF;
    return given - SHARED32(&words->taken);
}

/* Sample the number of pieces that the kernel has copied. */
u32 look_taken(struct write_words *words, u32 seen) {
    if (UNLIKELY(SHARED32(&words->taken) != seen)) {
        OFF_PATH("more is copied");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}
