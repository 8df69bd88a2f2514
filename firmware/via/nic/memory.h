/* NIC memory as VIA's firmware sees it. */
#include "paths.h"

enum { CONNECTED = 1, VALID = 1u << 31, LOW_WORDS = 20 };

struct shared {
    u32 kernel, send_head, send_tail, command_tail, send_queued, command_head, refills, writes, taken, scratch, news, refused, unused[4], counters[16], commands[64];
};
struct vi_words { u32 state, peer, mode, receive_tail, receive_head, queued, notify, send_queue, receive_queue, tag, most, answered, pair, left, unused[2]; };
struct ring { u32 *base, mask, at, freed, tail; };
struct unanswered { u32 number, descriptor, length, operation, home, reading, pages; };
struct endpoint {
    struct vi_words *words;
    struct ring receives;
    u32 generation, from, key, node, peer, reliability, sequence, expected, coming, verdict, number;
    u32 receiving, descriptor, entries, address, left, length, immediate;
    u32 oldest, newest, answered, rights;
    struct unanswered unanswered[16];
};
struct message {
    struct endpoint *endpoint;
    u32 active, control, descriptor, length, node, peer, key, kind, entries, address, left, fetching, fetched, first, before, behind;
    u32 words[4];
};
struct layer {
    struct shared *shared;
    u32 me, number, event, stores, event_mask, packet, vis;
    struct ring sends, commands;
    struct message now;
    u32 answers_first, answers_last, answers[16][3], awaiting_last, awaiting[16][3];
    u32 stored, fresh_first, fresh_last, fresh[32][2];
    struct endpoint endpoints[128];
};
struct known { u32 handle, fenced, va, size, first; u32 *table; u32 unused[2]; };
struct queue { u32 address, entries, place, valid; };
