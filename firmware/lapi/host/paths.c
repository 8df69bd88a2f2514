/* Cost of each step of LAPI on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "turns.h"

enum { TASKS = 128, HEADER = 48, PACKET = 1024, TYPE = 0x4C41, WINDOW = 32, MESSAGES = 64, MOST_PATIENCE = 64 };
enum { ACKNOWLEDGE, PUT, AMSEND, GET, DATA, RMW, PREVIOUS, DONE, NOTE, SET };
enum { ASK = 1, NOW = 2, FIRST = 4 };

struct header {
    u32 kind, sequence, expected, beyond, message_user, offset, size, address, counter, completion, first, second;
};
struct message {
    struct message *next;
    u32 kind, size, address, counter, completion, first, second, user_size, number, offset, flags;
    u32 *data, *user, *origin;
};
struct kept { u32 buffer, at; };
struct place { u32 *address, completion, argument; };
struct arrival { u32 message, left, begun; struct place place; struct waiting *waiting; };
struct call { u32 handler, task, *user, user_size, size; };
struct waiting { struct waiting *next; u32 offset, size, *room; };
struct done { struct done *next; u32 handler, argument; };
struct peer {
    u32 next, oldest, asked, asked_at, patience, count, expected, beyond, fresh, wanted, wants;
    struct kept kept[WINDOW];
    struct message *first, **last;
    struct arrival arrivals[MESSAGES];
};
struct lapi {
    u32 on, in_handler, failed, tasks, me, low, high, timeout, acknowledge_at, keepable, busy, number;
    struct message *free;
    struct done *done, **done_last, *done_free;
    struct waiting *rooms;
    u32 text, handlers;
    struct peer peers[TASKS];
};

/* Take a free message, fill it in, append it to the queue of the target. */
static inline __attribute__((always_inline)) struct message *give(struct lapi *lapi, u32 task, u32 kind, u32 size) {
    struct peer *peer = &lapi->peers[task];
    struct message *message = lapi->free;
    lapi->free = message->next;
    message->next = 0;
    message->kind = kind;
    message->size = size;
    message->number = peer->count;
    peer->count = peer->count + 1 & 0xFFFF;
    message->offset = message->user_size = 0;
    message->flags = FIRST;
    *peer->last = message;
    peer->last = &message->next;
    return message;
}

/* Write the acknowledgement into a header. */
static inline __attribute__((always_inline)) void stamp(u32 *header, struct peer *peer, u32 kind, u32 sequence) {
    peer->fresh = 0;
    be32_store(&header[0], TYPE << 16 | kind);
    be32_store(&header[1], sequence);
    be32_store(&header[2], peer->expected);
    be32_store(&header[3], peer->beyond);
}

/* Check context, task and counters of a sending call. */
u32 lapi_check(struct lapi *lapi, u32 task, u32 own, u32 length, u32 origin, u32 completion, u32 target) {
    if (UNLIKELY(!lapi->on) || UNLIKELY(lapi->in_handler) || UNLIKELY(lapi->failed)) {
        OFF_PATH("not now");
        return 0;
    }
    if (UNLIKELY(task >= lapi->tasks) || UNLIKELY(own < lapi->low) || UNLIKELY(own + length > lapi->high)) {
        OFF_PATH("no such task, or not this task's memory");
        return 0;
    }
    if (UNLIKELY((origin | completion | target) & 3)) {
        OFF_PATH("no counter");
        return 0;
    }
    return 1;
}

/* Queue the message of a put. */
void lapi_put(struct lapi *lapi, u32 task, u32 length, u32 address, u32 *data, u32 counter, u32 *origin, u32 completion) {
    struct message *message = give(lapi, task, PUT, length);
    message->address = address;
    message->counter = counter;
    message->completion = completion;
    message->data = data;
    message->origin = origin;
}

/* Queue the request of a get. */
void lapi_get(struct lapi *lapi, u32 task, u32 length, u32 address, u32 here, u32 counter, u32 origin) {
    struct message *message = give(lapi, task, GET, 0);
    message->address = address;
    message->counter = counter;
    message->completion = origin;
    message->first = here;
    message->second = length;
}

/* Queue an active message. */
void lapi_amsend(struct lapi *lapi, u32 task, u32 handler, u32 *user, u32 user_size, u32 *data, u32 length, u32 counter,
                 u32 *origin, u32 completion) {
    struct message *message = give(lapi, task, AMSEND, length);
    message->address = handler;
    message->counter = counter;
    message->completion = completion;
    message->data = data;
    message->user = user;
    message->user_size = user_size;
    message->origin = origin;
}

/* Queue the request of an Rmw. */
void lapi_rmw(struct lapi *lapi, u32 task, u32 operation, u32 address, u32 first, u32 second, u32 old, u32 counter) {
    struct message *message = give(lapi, task, RMW, 0);
    message->address = address;
    message->counter = counter;
    message->completion = old;
    message->first = first;
    message->second = second;
    message->data = (u32 *)operation;
    message->user_size = 4;
}

/* Build the next packet of a message: check the window, write the header, keep the buffer. */
u32 lapi_packet(struct lapi *lapi, u32 task, u32 *header, u32 now, u32 buffer, u32 **from) {
    struct peer *peer = &lapi->peers[task];
    struct message *message = peer->first;
    u32 sequence = peer->next, part, room, offset, flags;
    struct kept *kept = &peer->kept[sequence & (WINDOW - 1)];
    if (UNLIKELY(!message) || UNLIKELY(sequence - peer->oldest >= WINDOW) || UNLIKELY(!lapi->keepable)) {
        OFF_PATH("nothing may be sent");
        return 0;
    }
    offset = message->offset;
    room = PACKET - HEADER - message->user_size;
    part = message->size - offset;
    if (UNLIKELY(part > room)) {
        OFF_PATH("not the last packet");
        part = room;
    }
    flags = message->flags;
    if (UNLIKELY(sequence - peer->oldest + 1 >= WINDOW / 2)) {
        OFF_PATH("half of the window is out");
        if ((int)(peer->asked - peer->oldest) < 0) {
            flags |= ASK;
            peer->asked = sequence;
            peer->asked_at = now;
        }
    }
    stamp(header, peer, message->kind << 8 | flags, sequence);
    be32_store(&header[4], message->number << 16 | message->user_size);
    be32_store(&header[5], offset);
    be32_store(&header[6], message->size);
    be32_store(&header[7], message->address);
    be32_store(&header[8], message->counter);
    be32_store(&header[9], message->completion);
    be32_store(&header[10], message->first);
    be32_store(&header[11], message->second);
    kept->buffer = buffer;
    kept->at = now;
    peer->next = sequence + 1;
    message->offset = offset + part;
    message->flags = 0;
    *from = message->data + (offset >> 2);
    if (LIKELY(offset + part == message->size)) {
        peer->first = message->next;
        message->next = lapi->free;
        lapi->free = message;
        if (LIKELY(message->origin != 0)) *message->origin = *message->origin + 1;
    }
    return part;
}

/* Build an acknowledgement without data, or a request for one. */
u32 lapi_acknowledge(struct peer *peer, u32 *header, u32 flags) {
    if (UNLIKELY(peer->wants) && LIKELY((int)(peer->expected - peer->wanted) > 0)) peer->wants = 0;
    if (UNLIKELY(flags & NOW) && LIKELY(peer->patience < MOST_PATIENCE)) peer->patience = peer->patience << 1;
    stamp(header, peer, ACKNOWLEDGE << 8 | flags, peer->next - 1);
    return HEADER;
}

/* Release an acknowledged packet. */
u32 lapi_release(struct peer *peer, u32 expected, u32 end) {
    u32 oldest = peer->oldest, buffer = peer->kept[oldest & (WINDOW - 1)].buffer;
    peer->kept[oldest & (WINDOW - 1)].at = 0;
    peer->oldest = oldest + 1;
    if (UNLIKELY(oldest + 1 == expected) || UNLIKELY(oldest + 1 == end)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return buffer;
}

/* Retransmit an overdue packet. */
u32 lapi_again(struct peer *peer, u32 sequence, u32 now, u32 timeout) {
    struct kept *kept = &peer->kept[sequence & (WINDOW - 1)];
    if (UNLIKELY(now - kept->at < timeout)) {
        OFF_PATH("it may be on its way");
        return 0;
    }
    kept->at = now;
    return kept->buffer;
}

/* Process a packet: acknowledgement, duplicate check, message, acknowledgement due. */
u32 lapi_take(struct lapi *lapi, u32 task, const u32 *header, u32 size, struct arrival **of) {
    struct peer *peer = &lapi->peers[task];
    u32 first = be32_load(&header[0]), sequence = be32_load(&header[1]), expected = be32_load(&header[2]), ahead, bits;
    struct arrival *arrival;
    if (UNLIKELY(first >> 16 != TYPE)) {
        OFF_PATH("not one of LAPI");
        return 0;
    }
    peer->patience = 1;
    if (UNLIKELY((int)(expected - peer->oldest) > 0) || UNLIKELY(be32_load(&header[3]) != 0)) {
        OFF_PATH("it acknowledges packets");
        return 1;
    }
    if (UNLIKELY((first >> 8 & 0xFF) == ACKNOWLEDGE)) {
        OFF_PATH("that is all");
        return 2;
    }
    ahead = sequence - peer->expected;
    if (UNLIKELY(ahead >= WINDOW) || UNLIKELY(peer->beyond >> ahead & 1)) {
        OFF_PATH("it was here before");
        return 3;
    }
    if (UNLIKELY(first & ASK)) {
        OFF_PATH("its sender has used half of its window");
        peer->wants = 1;
        peer->wanted = sequence;
    }
    bits = peer->beyond | 1u << ahead;
    peer->fresh = peer->fresh + 1;
    if (LIKELY(bits & 1)) {
        peer->expected = sequence + 1;
        bits >>= 1;
        if (UNLIKELY(bits & 1)) {
            OFF_PATH("a gap is closed");
            return 4;
        }
    }
    peer->beyond = bits;
    arrival = &peer->arrivals[be32_load(&header[4]) >> 16 & (MESSAGES - 1)];
    if (UNLIKELY(!arrival->begun)) arrival->left = be32_load(&header[6]);
    arrival->left = arrival->left - (size - HEADER - (be32_load(&header[4]) & 0xFFFF));
    *of = arrival;
    if (UNLIKELY(peer->fresh >= lapi->acknowledge_at) || UNLIKELY(peer->wants)) {
        OFF_PATH("an acknowledgement may be due");
        return 5;
    }
    return 6 + (arrival->left == 0);
}

/* Find the header handler of an active message and prepare its call. */
u32 lapi_dispatch(struct lapi *lapi, struct arrival *arrival, struct call *call, u32 task, u32 *user, u32 user_size,
                  u32 address, u32 size) {
    u32 number = (address - lapi->text) >> 4;
    if (UNLIKELY(address & 15) || UNLIKELY(number >= lapi->handlers)) {
        OFF_PATH("no handler");
        return 0;
    }
    lapi->in_handler = task + 1;
    call->handler = address;
    call->task = task;
    call->user = user;
    call->user_size = user_size;
    call->size = size;
    arrival->begun = 1;
    if (UNLIKELY(arrival->waiting)) {
        OFF_PATH("packets came before it");
        return 2;
    }
    return 1;
}

/* Find a buffer for a packet that precedes the first one of its message. */
u32 *lapi_wait(struct lapi *lapi, struct arrival *arrival, u32 offset, u32 size) {
    struct waiting *waiting = lapi->rooms;
    if (UNLIKELY(!waiting)) {
        OFF_PATH("no room yet");
        return 0;
    }
    lapi->rooms = waiting->next;
    waiting->next = arrival->waiting;
    waiting->offset = offset;
    waiting->size = size;
    arrival->waiting = waiting;
    return waiting->room;
}

/* Copy 32 bytes to their destination. */
u32 *lapi_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Complete a message: increment the counter, or queue its completion handler. */
u32 lapi_whole(struct lapi *lapi, struct arrival *arrival, u32 *counter) {
    struct done *done = lapi->done_free;
    arrival->begun = 0;
    if (UNLIKELY(arrival->place.completion != 0)) {
        OFF_PATH("its thread runs it");
        lapi->done_free = done->next;
        done->handler = arrival->place.completion;
        done->argument = arrival->place.argument;
        *lapi->done_last = done;
        return 2;
    }
    if (LIKELY(counter != 0)) *counter = *counter + 1;
    return 1;
}

/* Completion thread: take the next handler, increment the counter after it. */
u32 lapi_complete(struct lapi *lapi, u32 *counter, u32 *handler, u32 *argument) {
    struct done *done = lapi->done;
    if (UNLIKELY(!done)) {
        OFF_PATH("it sleeps");
        return 0;
    }
    lapi->done = done->next;
    *argument = done->argument;
    *handler = done->handler;
    done->next = lapi->done_free;
    lapi->done_free = done;
    if (LIKELY(counter != 0)) *counter = *counter + 1;
    return 1;
}

/* Store a word in place of a completion handler, without the thread. */
u32 lapi_set(struct lapi *lapi, u32 *word, u32 value, u32 at_sender) {
    if (UNLIKELY((u32)word < lapi->low) || UNLIKELY((u32)word >= lapi->high) || UNLIKELY(at_sender)) {
        OFF_PATH("the sender's, or not this task's");
        return 0;
    }
    *word = value;
    return 1;
}

/* Change a word and queue the reply with its old value. */
u32 lapi_change(struct lapi *lapi, u32 task, u32 operation, u32 *word, u32 first, u32 second, u32 to, u32 counter) {
    u32 old = *word;
    struct message *message;
    if (UNLIKELY((u32)word < lapi->low) || UNLIKELY((u32)word >= lapi->high)) {
        OFF_PATH("not this task's");
        return 0;
    }
    if (LIKELY(operation == 0)) {
        *word = old + first;
    } else if (operation == 1) {
        *word = old | first;
    } else if (operation == 2 || old == first) {
        *word = operation == 2 ? first : second;
    }
    message = give(lapi, task, PREVIOUS, 0);
    message->address = to;
    message->counter = counter;
    message->first = old;
    return 1;
}

/* A counter: set, read, or compared and lowered. */
u32 lapi_counter(struct lapi *lapi, u32 *counter, u32 value) {
    u32 now = SHARED32(counter);
    if (UNLIKELY(!lapi->on) || UNLIKELY((u32)counter & 3) || UNLIKELY((int)(now - value) < 0)) {
        OFF_PATH("poll, or a bad counter");
        return 0;
    }
    SHARED32(counter) = now - value;
    return 1;
}

/* A fence: has everything been acknowledged? One turn a task. */
u32 lapi_fence(struct peer *peer, struct peer *end) {
    if (UNLIKELY(peer->first != 0) || UNLIKELY(peer->next != peer->oldest)) {
        OFF_PATH("not yet");
        return 0;
    }
    if (UNLIKELY(peer + 1 == end)) {
        OFF_PATH("the last task");
        return 1;
    }
    LOOP_AGAIN();
    return 2;
}

/* A property of the context. */
u32 lapi_environment(struct lapi *lapi, u32 query, u32 value) {
    if (UNLIKELY(!lapi->on) || UNLIKELY(query > 7)) {
        OFF_PATH("no such property");
        return 0;
    }
    (&lapi->tasks)[query] = value;
    return 1;
}
