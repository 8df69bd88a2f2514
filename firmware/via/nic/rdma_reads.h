/* RDMA reads. */

struct answer { u32 first, last; struct { struct endpoint *endpoint; u32 va, handle, left, key; } queue[16]; };

/* Handle a request: check that the range is registered for reads, and create the response. */
u32 read_asked(struct layer *layer, struct endpoint *endpoint, struct writing *writing, struct answer *answers, u32 size, u32 flags) {
    u32 last = answers->last, number = layer->number + 1 & 0xFFFF;
    writing->active = 0;
    if (UNLIKELY(!(flags & endpoint->rights & 2)) || UNLIKELY(endpoint->reliability == 1)) {
        OFF_PATH("not for reads");
        return 0;
    }
    layer->number = number;
    answers->queue[last & 15].endpoint = endpoint;
    answers->queue[last & 15].va = writing->va;
    answers->queue[last & 15].handle = writing->handle;
    answers->queue[last & 15].left = size;
    answers->queue[last & 15].key = endpoint->key | number;
    answers->last = last + 1;
    return number;
}

/* Begin a read request: its size, and room for the pages of the data. */
void read_begin(struct endpoint *endpoint, struct message *message) {
    struct unanswered *one = &endpoint->unanswered[endpoint->newest & 15];
    one->reading = 1;
    one->pages = message->entries;
    message->words[2] = message->length;
    message->behind = 1;
    message->entries = 0;
}

/* Keep a page for the data. */
void read_page(u32 *kept, u32 address, u32 size) {
    kept[0] = address;
    kept[1] = size;
}

/* Find the oldest pending read for a packet of data. */
struct unanswered *read_data(struct endpoint *endpoint) {
    u32 at = endpoint->oldest;
    struct unanswered *one = &endpoint->unanswered[at & 15];
    if (UNLIKELY(!one->reading) || UNLIKELY(at == endpoint->newest)) {
        OFF_PATH("an older send is not answered");
        return 0;
    }
    return one;
}
