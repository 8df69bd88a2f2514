/* Costs of AM-II's steps on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md. */
#include "turns.h"

enum { OWNED = 1u << 31, TRANSLATIONS = 256, ENTRIES = 256, MOST_WORDS = 8, DESCRIPTORS = 32 };

struct translation { u32 where, tag[2], credits; };
struct queue { u32 posted, freed; };
struct endpoint {
    u32 handling, arrived, out, medium;
    struct queue send[2];
    u32 taken[2];
    struct translation translations[TRANSLATIONS];
    void *handlers[ENTRIES];
};
struct token { u32 source, head, count, size, replied, index; u32 arguments[MOST_WORDS]; u8 *payload; };

/* Write the words of a descriptor, the owner's last. */
static inline __attribute__((always_inline)) void post(struct queue *send, u32 head, u32 where, const u32 *tag, u32 length, const u32 *words, u32 count) {
    u32 i;
    PIO_WRITE(where);
    PIO_WRITE(tag[0]);
    PIO_WRITE(tag[1]);
    PIO_WRITE(length);
    PIO_WRITE(0);
    for (i = 0; i < 4; i++) PIO_WRITE(words[i]);
    send->posted = send->posted + 1;
    PIO_WRITE(OWNED | head | count << 16);
}

/* Request: check it, look up its translation, take a credit, and store its descriptor. */
u32 am2_request(struct endpoint *endpoint, u32 index, u32 handler, const u32 *words, u32 count, u32 length, u32 kind) {
    struct translation *to = &endpoint->translations[index];
    struct queue *send = &endpoint->send[0];
    u32 where, credits;
    if (UNLIKELY(endpoint->handling || index >= TRANSLATIONS || count > MOST_WORDS || handler - 1 >= ENTRIES - 1)) {
        OFF_PATH("bad argument");
        return 1;
    }
    if (UNLIKELY(length >> 16 > endpoint->medium)) {
        OFF_PATH("too long");
        return 1;
    }
    where = to->where;
    credits = to->credits;
    if (UNLIKELY(where == 0) || UNLIKELY(credits == 0) || UNLIKELY(send->posted - send->freed >= DESCRIPTORS)) {
        OFF_PATH("a free entry, or it must wait");
        return 2;
    }
    to->credits = credits - 1;
    endpoint->out = endpoint->out + 1;
    post(send, kind << 28 | handler, where, to->tag, length, words, count);
    return 0;
}

/* Reply to the source of a request, with its tag. */
u32 am2_reply(struct endpoint *endpoint, struct token *token, u32 handler, const u32 *words, u32 count, u32 length, u32 kind) {
    struct queue *send = &endpoint->send[1];
    u32 source = token->source, tag[2];
    if (UNLIKELY(token->replied || count > MOST_WORDS || handler >= ENTRIES || length >> 16 > endpoint->medium)) {
        OFF_PATH("bad argument");
        return 1;
    }
    if (UNLIKELY(send->posted - send->freed >= DESCRIPTORS)) {
        OFF_PATH("it must wait");
        return 2;
    }
    token->replied = 1;
    tag[0] = PIO_READ();
    tag[1] = PIO_READ();
    post(send, kind << 28 | handler, source >> 24 << 16 | (source >> 17 & 127), tag, length, words, count);
    return 0;
}

/* Read the word that counts messages. */
u32 am2_look(struct endpoint *endpoint) {
    u32 word = PIO_READ();
    if (UNLIKELY(word != endpoint->arrived)) {
        OFF_PATH("a message");
        return word;
    }
    LOOP_AGAIN();
    return 0;
}

/* Read the word that counts freed descriptors. */
u32 am2_look_freed(struct queue *send) {
    u32 word = PIO_READ();
    if (UNLIKELY(word != send->freed)) {
        OFF_PATH("some were");
        send->freed = word >> 16;
        return word;
    }
    LOOP_AGAIN();
    return 0;
}

/* Receive a message of four words: read kind, source and handler; a reply returns a credit. */
void *am2_receive(struct endpoint *endpoint, struct token *token, u32 queue) {
    u32 head = PIO_READ(), source = PIO_READ(), count = head >> 16 & 15, i;
    struct translation *to = &endpoint->translations[source >> 17 & 127];
    if (UNLIKELY(head >> 26 & 3) || UNLIKELY(count > MOST_WORDS)) {
        OFF_PATH("it came back, says nothing, or is wrong");
        return 0;
    }
    for (i = 0; i < 4; i++) token->arguments[i] = PIO_READ();
    token->head = head;
    token->source = source;
    token->count = count;
    token->replied = 0;
    token->size = 0;
    token->index = endpoint->taken[queue];
    endpoint->taken[queue] = token->index + 1;
    endpoint->handling = 1;
    if (LIKELY(source >> 16 & 1)) {
        to->credits = to->credits + 1;
        endpoint->out = endpoint->out - 1;
    }
    PIO_WRITE(0);
    return endpoint->handlers[head & 0xFF];
}

/* Copy 32 bytes of payload. */
u32 *am2_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Clear 32 bytes of staging memory for another process. */
u32 *am2_clear(u32 *to, const u32 *end) {
    u32 i;
    for (i = 0; i < 8; i++) to[i] = 0;
    to += 8;
    if (UNLIKELY(to == end)) {
        OFF_PATH("the end");
        return 0;
    }
    LOOP_AGAIN();
    return to;
}

/* Driver: allocate an endpoint, and map two pages of the card and those of its staging blocks. */
u32 am2_grant(u32 *used, u32 *entries, u32 frame, u32 staging, u32 number) {
    u32 word = *used;
    if (UNLIKELY(word >> number & 1)) {
        OFF_PATH("taken");
        return 1;
    }
    *used = word | 1u << number;
    entries[0] = frame | 0x1F;
    entries[1] = frame + 4096 | 0x1F;
    entries[2] = staging | 7;
    return 0;
}

/* Pager: owners of frames, and page tables of CPU and pager. */
struct owner { u32 number, *entries, place, until, leaving; };
enum { PRESENT = 1, WRITABLE = 2, STORED = 1u << 6 };

/* Check a frame: stored to since the last check, and resident long enough. */
struct owner *am2_choose(struct owner **frames, u32 hand, u32 now) {
    struct owner *owner = frames[hand];
    u32 *entries = owner->entries, first = entries[0], second = entries[1];
    if (UNLIKELY((first | second) & STORED)) {
        OFF_PATH("it was");
        entries[0] = first & ~STORED;
        entries[1] = second & ~STORED;
        return 0;
    }
    if (UNLIKELY((int)(owner->until - now) > 0)) {
        OFF_PATH("it has not");
        return 0;
    }
    return owner;
}

/* Evict an endpoint: block stores to it. */
void am2_leaves(struct owner *owner) {
    u32 *entries = owner->entries;
    entries[0] = entries[0] & ~WRITABLE;
    entries[1] = entries[1] & ~WRITABLE;
    owner->leaving = 1;
}

/* Map a loaded frame. */
void am2_came(struct owner **frames, struct owner *owner, u32 place, u32 address, u32 until) {
    u32 *entries = owner->entries;
    frames[place] = owner;
    owner->place = place;
    owner->until = until;
    owner->leaving = 0;
    entries[0] = address | PRESENT | WRITABLE | STORED;
    entries[1] = address + 4096 | PRESENT | WRITABLE | STORED;
}

/* Name server: compare one host of the table, by the hash of its name. */
u32 am2_lookup(const u32 *hashes, u32 hash, u32 node, u32 nodes) {
    if (LIKELY(hashes[node] == hash)) return node;
    if (UNLIKELY(node + 1 == nodes)) {
        OFF_PATH("no such host");
        return nodes;
    }
    OFF_PATH("another one");
    return node + 1;
}

/* Read the ring of notices, and take the next one. */
u32 am2_notice_read(u32 **next, u32 *ring, u32 *end) {
    u32 word = PIO_READ(), *after = *next + 1;
    if (UNLIKELY(!(word & OWNED))) {
        OFF_PATH("no more");
        return 0;
    }
    PIO_WRITE(0);
    if (UNLIKELY(after == end)) {
        OFF_PATH("round the ring");
        after = ring;
    }
    *next = after;
    return word;
}

/* Write a row for the NIC, and the command. */
void am2_row_written(const u32 *row, u32 number) {
    PIO_WRITE(BE32(row[0]));
    PIO_WRITE(BE32(row[1]));
    PIO_WRITE(BE32(row[2]));
    PIO_WRITE(BE32(row[3]));
    PIO_WRITE(BE32(row[4]));
    PIO_WRITE(BE32(row[5]));
    PIO_WRITE(BE32(row[6]));
    PIO_WRITE(BE32(number + 1));
}

/* Read the command word until the NIC has replied. */
u32 am2_look_read(u32 asked) { return look_turn(PIO_READ(), asked); }
