/* Frames that are loaded and evicted, and messages that wait meanwhile (residents.py, endpoints.py, outgoing.py). */

/* Start an eviction: the endpoint sends and accepts no more. */
void am2_leave(struct am2 *am2, struct endpoint *endpoint) {
    struct endpoint *before = endpoint->before, *after = endpoint->ring;
    am2->endpoints[endpoint->number] = 0;
    before->ring = after;
    after->before = before;
    endpoint->state = LEAVING;
    endpoint->send[0].held = 0;
    endpoint->send[1].held = 0;
}

/* Enter an endpoint into its ring and into the table again. */
static inline __attribute__((always_inline)) void there(struct am2 *am2, struct endpoint *endpoint) {
    struct endpoint *after = am2->turn, *before = after->before;
    endpoint->ring = after;
    endpoint->before = before;
    before->ring = endpoint;
    after->before = endpoint;
    endpoint->state = THERE;
    endpoint->asked = 0;
    am2->endpoints[endpoint->number] = endpoint;
}

/* Cancel an eviction. */
void am2_stay(struct am2 *am2, struct endpoint *endpoint) { there(am2, endpoint); }

/* Check one channel for a message of an endpoint. */
struct channel *am2_quiet_look(struct channel *channel, struct channel *end, struct endpoint *endpoint) {
    struct sending *send = channel->queue, *requests = &endpoint->send[0];
    if (UNLIKELY(send == requests) || UNLIKELY(send == requests + 1)) {
        OFF_PATH("it does");
        return channel;
    }
    channel = channel + 1;
    if (UNLIKELY(channel == end)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return channel;
}

static inline __attribute__((always_inline)) void moved(struct descriptor **at, u32 by) { *at = (struct descriptor *)((u32)*at + by); }

/* Handle a loaded frame, possibly at another place than before. */
void am2_loaded(struct am2 *am2, struct endpoint *endpoint, u32 frame) {
    u32 by = frame - endpoint->frame, i, block;
    endpoint->frame = frame;
    endpoint->arrived = (u32 *)((u32)endpoint->arrived + by);
    for (i = 0; i < 2; i++) {
        struct sending *send = &endpoint->send[i];
        struct receiving *receive = &endpoint->receive[i];
        moved(&send->first, by);
        moved(&send->next, by);
        moved(&send->oldest, by);
        moved(&send->end, by);
        send->told = (u32 *)((u32)send->told + by);
        moved(&receive->first, by);
        moved(&receive->next, by);
        moved(&receive->end, by);
        for (block = 0; block < 4; block++) {
            if (LIKELY(receive->named[block] != 0)) moved(&receive->named[block], by);
        }
    }
    there(am2, endpoint);
    SHARED32(am2->command) = 0;
}

/* Handle an evicted frame, and check for waiting messages. */
u32 am2_left(struct am2 *am2, struct endpoint *endpoint) {
    endpoint->state = ABSENT;
    endpoint->asked = 0;
    SHARED32(am2->command) = 0;
    if (UNLIKELY((SHARED32(&endpoint->send[0].next->head) | SHARED32(&endpoint->send[1].next->head)) & OWNED)) {
        OFF_PATH("a message that it has not sent");
        return 1;
    }
    if (UNLIKELY(endpoint->aside != 0)) {
        OFF_PATH("a message without a channel");
        return 1;
    }
    return 0;
}

/* Write a notice to the driver. */
void am2_notice(struct am2 *am2, u32 number, u32 notice) {
    u32 *at = am2->notice, *next = at + 1;
    if (UNLIKELY(next == am2->notices_end)) {
        OFF_PATH("round the ring");
        next = am2->notices;
    }
    am2->notice = next;
    SHARED32(at) = OWNED | notice << 8 | number;
}

/* Handle a message for an endpoint that is not in the table of resident endpoints. */
struct endpoint *am2_special(struct am2 *am2, const u32 *packet) {
    struct endpoint *endpoint = am2->all[packet[3] & 63];
    if (UNLIKELY(endpoint == 0)) {
        OFF_PATH("there is none");
        return 0;
    }
    if (UNLIKELY(endpoint->tag[0] != packet[4]) || UNLIKELY(endpoint->tag[1] != packet[5]) || UNLIKELY((packet[4] | packet[5]) == NEVER)) {
        OFF_PATH("another tag, or one of the two special ones");
        return 0;
    }
    if (UNLIKELY(endpoint->state == THERE)) {
        OFF_PATH("its owner sleeps");
        return endpoint;
    }
    return 0;
}

/* Remove a message from its channel, to wait at its endpoint. */
void am2_set_aside(struct am2 *am2, struct channel *channel, u32 reply, u32 code) {
    struct aside *one = am2->asides;
    struct sending *send = channel->queue;
    struct endpoint *endpoint = send->endpoint;
    struct node *to = &am2->nodes[channel->node];
    am2->asides = one->next;
    one->at = channel->at;
    one->queue = send;
    one->node = channel->node;
    one->size = channel->size;
    one->address = channel->address;
    one->name = channel->name;
    one->code = code;
    one->next = endpoint->aside;
    endpoint->aside = one;
    channel->queue = 0;
    channel->free = to->free[reply];
    to->free[reply] = channel;
}

/* Send a waiting message again, on another channel. */
void am2_resume(struct am2 *am2, struct aside *one, u32 reply) {
    struct node *to = &am2->nodes[one->node];
    struct channel *channel = to->free[reply];
    struct endpoint *endpoint = one->queue->endpoint;
    u32 header;
    if (UNLIKELY(channel == 0) || UNLIKELY(am2->ready_count >= 4) || UNLIKELY(one->code != 0)) {
        OFF_PATH("it cannot go now, or comes back");
        return;
    }
    to->free[reply] = channel->free;
    header = channel->header;
    channel->header = (header & ~0xFFu) | (header + 1 & 0xFF);
    channel->at = one->at;
    channel->queue = one->queue;
    channel->size = one->size;
    channel->address = one->address;
    channel->name = one->name;
    channel->sent = 0;
    endpoint->aside = one->next;
    one->next = am2->asides;
    am2->asides = one;
    ready(am2, channel);
}
