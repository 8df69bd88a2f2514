/* Incoming messages (incoming.py). */

/* Count a damaged packet. */
void am2_bad(struct am2 *am2) { am2->bad = am2->bad + 1; }

/* Read the code of a control packet. */
u32 am2_control_in(struct am2 *am2, const u32 *packet, u32 *code) {
    u32 header = packet[1];
    if (UNLIKELY(!(header & 1u << 28))) {
        OFF_PATH("a message");
        return 0;
    }
    *code = packet[2];
    return header;
}

/* Check a message: sequence number, endpoint, tag, and a free place. */
struct descriptor *am2_arrived(struct am2 *am2, const u32 *packet) {
    u32 header = packet[1], source = packet[0] >> 24, number = packet[3] & 0xFFFF;
    struct heard *heard = &am2->nodes[source].heard[header >> 8 & 0xFF];
    struct endpoint *endpoint;
    struct receiving *queue;
    struct descriptor *at;
    if (UNLIKELY(header & 1u << 28)) {
        OFF_PATH("a control packet");
        return 0;
    }
    if (UNLIKELY((header - 1 - heard->state & 0xFF) > 126)) {
        OFF_PATH("it came before");
        return 0;
    }
    if (UNLIKELY(number >= 64)) {
        OFF_PATH("no number of an endpoint");
        return 0;
    }
    endpoint = am2->endpoints[number];
    if (UNLIKELY(endpoint == 0)) {
        OFF_PATH("there is none");
        return 0;
    }
    if (UNLIKELY(endpoint->tag[0] != packet[4]) || UNLIKELY(endpoint->tag[1] != packet[5]) || UNLIKELY((packet[4] | packet[5]) == NEVER)) {
        OFF_PATH("another tag, or one of the two special ones");
        return 0;
    }
    queue = &endpoint->receive[header >> 27 & 1];
    at = queue->next;
    if (UNLIKELY(SHARED32(&at->head) & OWNED)) {
        OFF_PATH("no place");
        return 0;
    }
    return at;
}

/* Write the words of a message into its place, except the first word and the arguments. */
void am2_place(struct am2 *am2, struct receiving *queue, const u32 *packet, struct heard *heard, struct coming *coming) {
    struct descriptor *at = queue->next, *next = at + 1;
    u32 name = packet[0], header = packet[1], head = packet[2];
    if (UNLIKELY(next == queue->end)) {
        OFF_PATH("round the queue");
        next = queue->first;
    }
    queue->next = next;
    queue->arriving = queue->arriving + 1;
    heard->state = (header & 0xFF) | 1u << 8;
    at->where = name;
    at->tag[0] = packet[4];
    at->tag[1] = packet[5];
    at->length = packet[6];
    at->offset = packet[7];
    at->reply_tag[0] = packet[8];
    at->reply_tag[1] = packet[9];
    coming->at = at;
    coming->head = head | OWNED;
    coming->node = name >> 24;
    coming->header = header;
    coming->heard = heard;
    coming->queue = queue;
}

/* Copy an argument. */
u32 am2_place_word(u32 *to, const u32 *from, u32 left) {
    *to = *from;
    if (UNLIKELY(left == 0)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return left - 1;
}

/* Choose a staging block for payload, name it in the descriptor, and compute its host address. */
u32 am2_payload(struct am2 *am2, struct endpoint *endpoint, struct receiving *queue, struct descriptor *at, u32 size) {
    u32 turn = queue->block & 3, block = queue->blocks + turn;
    struct descriptor *named = queue->named[turn];
    if (UNLIKELY(named != 0 && SHARED32(&named->head) & OWNED)) {
        OFF_PATH("the host still has it");
        return 0;
    }
    queue->named[turn] = at;
    queue->block = queue->block + 1;
    at->length = size << 16 | block;
    return endpoint->staging + (block << am2->medium_log);
}

/* Report a complete message to the endpoint and to the sender. */
void am2_deliver(struct am2 *am2, struct coming *coming) {
    struct endpoint *endpoint = coming->endpoint;
    struct receiving *queue = coming->queue;
    u32 told = queue->told + 1;
    SHARED32(&coming->at->head) = coming->head;
    queue->told = told;
    queue->arriving = queue->arriving - 1;
    SHARED32(endpoint->arrived) = endpoint->receive[0].told << 16 | (endpoint->receive[1].told & 0xFFFF);
    coming->heard->state = coming->heard->state & 0xFF;
    answer(am2, coming->node, coming->header, 0);
}

/* Repeat the reply to a duplicate. */
void am2_duplicate(struct am2 *am2, u32 node, u32 header, struct heard *heard) {
    u32 state = heard->state;
    am2->duplicates = am2->duplicates + 1;
    if (UNLIKELY(state & 1u << 8)) {
        OFF_PATH("not answered yet");
        return;
    }
    answer(am2, node, header, state >> 16);
}

/* Return a message to its sender. */
void am2_refuse(struct am2 *am2, u32 node, u32 header, struct heard *heard, u32 code) {
    am2->refused = am2->refused + 1;
    heard->state = (header & 0xFF) | code << 16;
    answer(am2, node, header, code);
}

/* Drop a message for a full queue. */
void am2_full(struct am2 *am2) { am2->dropped = am2->dropped + 1; }
