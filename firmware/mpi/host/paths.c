/* Cost of each step of MPI on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"

struct key { u32 context; int source, tag; };
struct type { u32 committed, size, extent, blocks; };
struct operation {
    struct operation *next;
    struct key key;
    u32 done, error, number, count, bytes;
    const struct type *type;
    void *buffer;
};
struct message {
    struct message *next;
    struct key key;
    u32 bytes, mode, number, whole;
    struct operation *receive;
    void *data;
};
struct comm { u32 alive, context, size; const u32 *ranks; };
struct engine {
    u32 running, call, limit, number;
    struct operation *receives, **receives_end, *named[256];
    struct message *messages, **messages_end, *room;
    struct { u32 rank; int words[4]; } due[256];
    u32 due_begin, due_end;
};

/* Start a send: check the arguments, build the header, choose the protocol. */
u32 mpi_send(struct engine *engine, const struct comm *comm, struct operation *send, const void *buffer, u32 count,
             const struct type *type, u32 rank, int tag, int *words) {
    u32 bytes;
    if (UNLIKELY(!engine->running || engine->call || !comm->alive)) {
        OFF_PATH("no MPI, or no communicator");
        return 0;
    }
    if (UNLIKELY(rank >= comm->size || tag < 0 || !type->committed)) {
        OFF_PATH("bad argument");
        return 0;
    }
    bytes = count * type->size;
    send->key.context = comm->context;
    send->key.source = comm->ranks[rank];
    send->key.tag = tag;
    send->buffer = (void *)buffer;
    send->bytes = bytes;
    send->type = type;
    send->done = send->error = 0;
    send->number = ++engine->number;
    words[0] = comm->context;
    words[1] = tag;
    words[2] = bytes;
    words[3] = send->number;
    if (UNLIKELY(bytes >= engine->limit)) {
        OFF_PATH("ask first");
        words[0] |= 1 << 24;
        engine->named[send->number & 255] = send;
        return 2;
    }
    send->done = 1;
    return 3;
}

/* Start a receive: check the arguments, fill in the operation. */
u32 mpi_receive(struct engine *engine, const struct comm *comm, struct operation *receive, void *buffer, u32 count,
                const struct type *type, u32 rank, int tag) {
    if (UNLIKELY(!engine->running || engine->call || !comm->alive)) {
        OFF_PATH("no MPI, or no communicator");
        return 0;
    }
    if (UNLIKELY(rank >= comm->size || tag < -1 || !type->committed)) {
        OFF_PATH("any source, or a bad argument");
        return 0;
    }
    receive->key.context = comm->context;
    receive->key.source = comm->ranks[rank];
    receive->key.tag = tag;
    receive->buffer = buffer;
    receive->count = count;
    receive->type = type;
    receive->done = receive->error = 0;
    return 1;
}

/* Compare one entry of a queue that does not match. */
struct operation *mpi_look(struct operation *entry, u32 context, int source, int tag) {
    if (UNLIKELY(!entry)) {
        OFF_PATH("the end");
        return 0;
    }
    if (UNLIKELY(entry->key.context == context && (entry->key.source == source || entry->key.source < 0) &&
                 (entry->key.tag == tag || entry->key.tag < 0))) {
        OFF_PATH("found");
        return entry;
    }
    LOOP_AGAIN();
    return entry->next;
}

/* Append a receive to its queue. */
void mpi_post(struct engine *engine, struct operation *receive) {
    receive->next = 0;
    *engine->receives_end = receive;
    engine->receives_end = &receive->next;
}

/* Append an early message to its queue, with room for its data. */
struct message *mpi_early(struct engine *engine, const int *words, int source) {
    struct message *message = engine->room;
    if (UNLIKELY(!message)) {
        OFF_PATH("no room");
        return 0;
    }
    engine->room = message->next;
    message->next = 0;
    message->key.context = words[0] & 0xFFFFF;
    message->key.source = source;
    message->key.tag = words[1];
    message->bytes = words[2];
    message->mode = words[0] >> 20 & 15;
    message->number = words[3];
    message->whole = 0;
    message->receive = 0;
    *engine->messages_end = message;
    engine->messages_end = &message->next;
    return message;
}

/* Decode a received header: kind, and operation or context. */
struct operation *mpi_arrive(struct engine *engine, const int *words, struct key *key, int source) {
    u32 kind = (u32)words[0] >> 24;
    if (UNLIKELY(kind > 1)) {
        OFF_PATH("for the engine itself");
        return engine->named[words[1] & 255];
    }
    key->context = words[0] & 0xFFFFF;
    key->source = source;
    key->tag = words[1];
    return engine->receives;
}

/* Complete a receive and fill in its status. */
void mpi_complete(struct operation *receive, const struct message *message) {
    if (UNLIKELY(message->bytes > receive->bytes)) {
        OFF_PATH("too long");
        receive->error = 14;
        return;
    }
    receive->key.source = message->key.source;
    receive->key.tag = message->key.tag;
    receive->bytes = message->bytes;
    receive->done = 1;
}

/* Take the header of the next due message from the ring. */
u32 mpi_answer(struct engine *engine, int *words) {
    u32 at = engine->due_begin & 255;
    if (UNLIKELY(engine->due_begin == engine->due_end)) {
        OFF_PATH("nothing is due");
        return 0;
    }
    words[0] = engine->due[at].words[0];
    words[1] = engine->due[at].words[1];
    words[2] = engine->due[at].words[2];
    words[3] = engine->due[at].words[3];
    engine->due_begin++;
    return engine->due[at].rank;
}

/* Test one request. */
u32 mpi_test(struct operation **request, u32 left) {
    if (UNLIKELY(!*request || (*request)->done)) {
        OFF_PATH("done, or null");
        return 0;
    }
    LOOP_AGAIN();
    return left - 1;
}

/* Copy 32 bytes; the time of the memory is charged separately. */
void mpi_copy(u32 *target, const u32 *source) {
    eight_words(target, source);
    LOOP_AGAIN();
}

/* Return address and length of one block of a derived datatype. */
const u32 *mpi_block(const u32 *block, u32 base, u32 *from, u32 *bytes, const u32 *end) {
    *from = base + block[0];
    *bytes = block[1];
    if (UNLIKELY(block + 2 == end)) {
        OFF_PATH("the next element");
        return 0;
    }
    LOOP_AGAIN();
    return block + 2;
}

/* One step of a collective: choose the partner and its part of the buffer. */
u32 mpi_step(const struct comm *comm, u32 rank, u32 step, u32 base, u32 bytes, u32 *at) {
    u32 partner = rank + step;
    if (UNLIKELY(step >= comm->size)) {
        OFF_PATH("the last one");
        return 0;
    }
    if (UNLIKELY(partner >= comm->size)) {
        OFF_PATH("round");
        partner -= comm->size;
    }
    *at = base + partner * bytes;
    return comm->ranks[partner];
}

/* Reduce one element of 8 bytes. */
double *mpi_fold(double *left, const double *right, const double *end) {
    *left += *right;
    if (UNLIKELY(left == end)) {
        OFF_PATH("done");
        return 0;
    }
    LOOP_AGAIN();
    return left + 1;
}

struct place { struct place *next; u32 va, handle, *descriptor; };
struct peer { struct place *free, *sent, *posted; u32 credits, owed, left; struct message *arrival; };

/* Build a part of a message over VIA: take a credit and a buffer, write the header. */
struct place *mpi_part(struct peer *peer, const int *words, u32 bytes, u32 number, u32 *header) {
    struct place *place = peer->free;
    u32 owed = peer->owed;
    if (UNLIKELY(!peer->credits || !place)) {
        OFF_PATH("wait for a credit, or for a buffer");
        return 0;
    }
    peer->credits--;
    peer->free = place->next;
    peer->owed = 0;
    header[0] = BE32(words[0]);
    header[1] = BE32(words[1]);
    header[2] = BE32(words[2]);
    header[3] = BE32(words[3]);
    header[4] = BE32(bytes);
    header[5] = BE32(number << 16 | owed);
    return place;
}

/* Decode a received part: header, credits, message. */
struct message *mpi_take_part(struct peer *peer, const u32 *header, int *words) {
    u32 bytes = be32_load(header + 4), number = be32_load(header + 5);
    struct place *place = peer->posted;
    peer->posted = place->next;
    peer->credits += number & 0xFFFF;
    if (UNLIKELY(number >> 16 == 0xFFFF)) {
        OFF_PATH("credits only");
        return 0;
    }
    peer->owed++;
    words[0] = be32_load(header);
    words[1] = be32_load(header + 1);
    words[2] = be32_load(header + 2);
    words[3] = be32_load(header + 3);
    if (LIKELY(number < 0x10000)) {
        peer->left = bytes;
        return 0;
    }
    return peer->arrival;
}

/* Write the envelope of a message over Pipes, and return the bytes that go through the pipe. */
u32 mpi_envelope(const int *words, u32 bytes, u32 *envelope) {
    envelope[0] = BE32(words[0]);
    envelope[1] = BE32(words[1]);
    envelope[2] = BE32(words[2]);
    envelope[3] = BE32(words[3]);
    envelope[4] = BE32(bytes);
    envelope[5] = 0;
    if (UNLIKELY(bytes > 32768)) {
        OFF_PATH("its ends only");
        return 16384;
    }
    return bytes;
}

/* Decode an envelope received over Pipes. */
struct stream { u32 have, bytes, come; struct message *arrival; };
u32 mpi_take_envelope(struct stream *stream, const u32 *envelope, u32 here, int *words) {
    if (UNLIKELY(stream->have + here < 24)) {
        OFF_PATH("a part of it");
        stream->have += here;
        return 0;
    }
    words[0] = be32_load(envelope);
    words[1] = be32_load(envelope + 1);
    words[2] = be32_load(envelope + 2);
    words[3] = be32_load(envelope + 3);
    stream->have = stream->come = 0;
    return stream->bytes = be32_load(envelope + 4);
}
