/* Cost of each step of Pipes on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "turns.h"

enum { DATA = 1008, HEADER = 16, NODES = 128, TYPE = 0x5049, WINDOW = 32, MOST_PATIENCE = 64 };

struct sent { struct sent *next; u32 position, size, buffer, at; };
struct ahead { struct ahead *next; u32 position, end; };
struct pipe {
    u32 written, sent, come, room, told, heard, patience, resent, writing, pumping, packets, size;
    u32 *ring;
    struct sent *oldest, **newest, *free;
    struct { u32 come, taken, told, owed, since, doubled, size; u32 *ring; struct ahead *ahead, *free; } in;
    u32 news;
};
struct header { u32 type_flags, position, come, room; };

/* Write a header that acknowledges everything received. */
static inline __attribute__((always_inline)) void stamp(struct header *header, struct pipe *pipe, u32 flags, u32 position) {
    pipe->in.owed = 0;
    pipe->in.told = pipe->in.taken;
    be32_store(&header->type_flags, TYPE << 16 | flags);
    be32_store(&header->position, position);
    be32_store(&header->come, pipe->in.come);
    be32_store(&header->room, pipe->in.taken + pipe->in.size);
}

/* Begin a write: find the pipe, check its room, choose the way. */
u32 pipes_write(struct pipe *pipes, u32 node, u32 size, u32 direct) {
    struct pipe *pipe = &pipes[node];
    u32 room;
    if (UNLIKELY(node >= NODES) || UNLIKELY(pipe->writing)) {
        OFF_PATH("not possible");
        return 0;
    }
    pipe->news = 1;
    if (UNLIKELY(direct)) {
        OFF_PATH("past the pipe");
        return 0;
    }
    room = pipe->size - (pipe->written - pipe->come);
    if (UNLIKELY(size > room)) {
        OFF_PATH("in parts");
        return room;
    }
    pipe->written = pipe->written + size;
    return size;
}

/* Copy 32 bytes into a pipe or out of it. */
u32 *pipes_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Build the next packet: check window and room, write the header, record it as unacknowledged. */
u32 pipes_send(struct pipe *pipe, struct header *header, u32 now, u32 **from) {
    u32 position = pipe->sent, size = pipe->written - position, room = pipe->room - position, at = position & (pipe->size - 1);
    struct sent *sent = pipe->free;
    if (UNLIKELY(pipe->pumping) || UNLIKELY(size == 0) || UNLIKELY(pipe->packets >= WINDOW)) {
        OFF_PATH("nothing may be sent");
        return 0;
    }
    if (LIKELY(size > DATA)) size = DATA;
    if (UNLIKELY(size > room) || UNLIKELY(size > pipe->size - at)) {
        OFF_PATH("less room, or the end of the ring");
        return 0;
    }
    pipe->packets = pipe->packets + 1;
    pipe->free = sent->next;
    sent->next = 0;
    sent->position = position;
    sent->size = size;
    sent->at = now;
    *pipe->newest = sent;
    pipe->newest = &sent->next;
    pipe->sent = position + size;
    stamp(header, pipe, 0, position);
    *from = pipe->ring + (at >> 2);
    return size;
}

/* Retransmit the oldest packet. */
u32 pipes_again(struct pipe *pipe, struct header *header, u32 now, u32 **from) {
    struct sent *sent = pipe->oldest;
    if (UNLIKELY(!sent)) {
        OFF_PATH("there is none: ask for room");
        return 0;
    }
    sent->at = now;
    pipe->resent = pipe->resent + 1;
    if (LIKELY(pipe->patience < MOST_PATIENCE)) pipe->patience = pipe->patience << 1;
    stamp(header, pipe, 0, sent->position);
    *from = pipe->ring + ((sent->position & (pipe->size - 1)) >> 2);
    return sent->size;
}

/* Build an acknowledgement without data, or a request for one. */
u32 pipes_answer(struct pipe *pipe, struct header *header) {
    stamp(header, pipe, 0, pipe->sent);
    return HEADER;
}

/* Process a packet: acknowledgement, position of its bytes, acknowledgement due. */
u32 pipes_arrive(struct pipe *pipes, u32 node, const struct header *header, u32 size, u32 now, u32 **to) {
    struct pipe *pipe = &pipes[node];
    u32 first = be32_load(&header->type_flags), come = be32_load(&header->come), room = be32_load(&header->room);
    u32 position = be32_load(&header->position), data = size - HEADER;
    if (UNLIKELY(first >> 16 != TYPE)) {
        OFF_PATH("not one of Pipes");
        return 0;
    }
    pipe->news = 1;
    pipe->heard = now;
    pipe->patience = 1;
    if (LIKELY((int)(room - pipe->room) > 0)) pipe->room = room;
    if (UNLIKELY((int)(come - pipe->told) > 0)) {
        OFF_PATH("it acknowledges packets");
        pipe->told = come;
    }
    if (UNLIKELY(data == 0) || UNLIKELY(position != pipe->in.come)) {
        OFF_PATH("no data, or not the next ones");
        return 0;
    }
    if (UNLIKELY(pipe->in.owed == 0)) {
        OFF_PATH("the first one that is owed");
        pipe->in.since = now;
    }
    pipe->in.owed = pipe->in.owed + 1;
    pipe->in.come = position + data;
    *to = pipe->in.ring + ((position & (pipe->in.size - 1)) >> 2);
    if (UNLIKELY(first & 2) || UNLIKELY(pipe->in.owed >= WINDOW / 2) || UNLIKELY(pipe->in.ahead)) {
        OFF_PATH("an answer is due, or more is here");
        return 0;
    }
    return data;
}

/* Release an acknowledged packet. */
struct sent *pipes_acknowledged(struct pipe *pipe) {
    struct sent *sent = pipe->oldest, *next = sent->next;
    u32 end = sent->position + sent->size;
    pipe->oldest = next;
    pipe->come = end;
    pipe->packets = pipe->packets - 1;
    sent->next = pipe->free;
    pipe->free = sent;
    if (UNLIKELY(sent->buffer)) {
        OFF_PATH("HAL has kept it");
        return 0;
    }
    if (UNLIKELY(!next) || UNLIKELY((int)(next->position + next->size - pipe->told) > 0)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return next;
}

/* Record a packet behind a gap. */
u32 pipes_ahead(struct pipe *pipe, u32 position, u32 size) {
    struct ahead *ahead = pipe->in.free;
    if (UNLIKELY((int)(position - pipe->in.come) < 0) || UNLIKELY(position + size - pipe->in.taken > pipe->in.size)) {
        OFF_PATH("it is here already, or has no room");
        return 0;
    }
    pipe->in.free = ahead->next;
    ahead->next = pipe->in.ahead;
    ahead->position = position;
    ahead->end = position + size;
    pipe->in.ahead = ahead;
    return position & (pipe->in.size - 1);
}

/* Read received bytes. */
u32 pipes_read(struct pipe *pipes, u32 node, u32 size, u32 **from) {
    struct pipe *pipe = &pipes[node];
    u32 taken = pipe->in.taken;
    if (UNLIKELY(node >= NODES) || UNLIKELY(pipe->in.come - taken < size)) {
        OFF_PATH("not here");
        return 0;
    }
    *from = pipe->in.ring + ((taken & (pipe->in.size - 1)) >> 2);
    taken = taken + size;
    pipe->in.taken = taken;
    if (UNLIKELY(taken - pipe->in.told >= pipe->in.size >> 1)) {
        OFF_PATH("the other end is told");
        return 0;
    }
    return size;
}
