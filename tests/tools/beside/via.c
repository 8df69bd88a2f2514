/* Runs paths of VIA's NIC, compiled for the local machine, on a state given word by word (via.py). A path that
 * leaves the straight line whose instructions are counted reports the reason. */
#include "paths.h"
#undef OFF_PATH
static const char *off;
#define OFF_PATH(why) (off = off ? off : (why))
#include "paths.c"

/* Inputs of the path. Fields of messages, connections and queue caches have the same names as in memory.h. */
struct given {
    u32 at, freed, tail, mask, number, vi, generation, from, key, node, peer, sequence, expected, coming, reliability;
    u32 entries, left, address, size, packet, kind, first, last, fetching, behind, first_word, second_word;
    u32 newest, answered, length, status, side, place, queue_entries, turn, event, word, vis, rights, most, va, handle, tag;
} given;
/* Outputs of the path, and its writes outside the shared words. */
u32 out[8];
/* Words of NIC memory: the kernel's, those of the VI, a queue cache, a region. */
struct shared shared;
struct vi_words vi_words;
u32 cache[1 << 16];
struct region region;

static struct layer layer;
static struct endpoint *endpoint;

/* Return the current queue cache. */
static struct ring ring(void) {
    return (struct ring){cache, given.mask, given.at, given.freed, given.tail};
}

/* Initialise the layer and the VI to the given state. */
static void prepare(void) {
    off = 0;
    __builtin_memset(out, 0, sizeof out);
    __builtin_memset(&layer, 0, sizeof layer);
    endpoint = &layer.endpoints[given.vi];
    endpoint->words = &vi_words;
    endpoint->receives = ring();
    endpoint->generation = given.generation;
    endpoint->from = given.from;
    endpoint->key = given.key & 0xFFFF0000;
    endpoint->node = given.node;
    endpoint->peer = given.peer;
    endpoint->reliability = given.reliability;
    endpoint->sequence = given.sequence;
    endpoint->expected = given.expected;
    endpoint->coming = given.coming;
    endpoint->entries = given.entries;
    endpoint->address = given.address;
    endpoint->left = given.left;
    endpoint->newest = given.newest;
    endpoint->answered = given.answered;
    layer.shared = &shared;
    layer.sends = ring();
    layer.number = given.number;
    layer.event = given.event;
    layer.packet = given.packet;
    layer.vis = given.vis;
    layer.now.endpoint = endpoint;
    layer.now.key = given.key;
    layer.now.peer = given.peer;
    layer.now.kind = given.kind;
    layer.now.first = given.first;
    layer.now.entries = given.entries;
    layer.now.address = given.address;
    layer.now.left = given.left;
    layer.now.fetching = given.fetching;
    layer.now.behind = given.behind;
    layer.now.length = given.length;
}

const char *run_send_begin(void) {
    prepare();
    out[0] = send_begin(&layer);
    out[1] = layer.now.endpoint - layer.endpoints;
    out[2] = layer.now.descriptor;
    out[3] = layer.now.length;
    out[4] = layer.now.kind;
    out[5] = layer.now.entries;
    return off;
}

const char *run_send_page(void) {
    prepare();
    send_page(&layer);
    out[0] = layer.now.address;
    out[1] = layer.now.left;
    return off;
}

const char *run_send_piece(void) {
    prepare();
    out[1] = send_piece(&layer);
    out[0] = layer.now.address;
    out[2] = layer.now.left;
    return off;
}

const char *run_send_packet(void) {
    prepare();
    send_packet(&layer, given.size, out);
    return off;
}

const char *run_user_packet(void) {
    struct vi vi = {.peer_bits = given.peer << 22 | given.kind << 18, .sequence = given.sequence};
    struct taken now = {.vi = &vi, .key = given.key, .left = given.left};
    prepare();
    user_packet(&now, given.size, out);
    return off;
}

const char *run_send_end(void) {
    prepare();
    out[0] = send_end(&layer);
    return off;
}

const char *run_send_unanswered(void) {
    prepare();
    send_unanswered(&layer);
    return off;
}

const char *run_write_status(void) {
    u32 stores = 0;
    prepare();
    write_status(endpoint, given.length, given.status, given.side, out, &stores);
    return off;
}

const char *run_write_entry(void) {
    struct queue queue = {given.address, given.queue_entries, given.place, given.turn << 10 | VALID};
    u32 stores = 0;
    prepare();
    out[1] = write_entry(&queue, given.vi, given.side, &out[0], &stores);
    return off;
}

const char *run_tell_kernel(void) {
    prepare();
    out[1] = tell_kernel(&layer, given.word, out);
    return off;
}

const char *run_answer(void) {
    prepare();
    answer(&layer, endpoint, given.kind, given.sequence);
    out[0] = layer.answers[0][1];
    out[1] = layer.answers[0][2];
    return off;
}

const char *run_count_answered(void) {
    prepare();
    count_answered(endpoint);
    return off;
}

const char *run_break_up(void) {
    prepare();
    break_up(endpoint, given.status);
    return off;
}

const char *run_flush_descriptor(void) {
    prepare();
    out[0] = flush_descriptor(endpoint);
    return off;
}

const char *run_receive_packet(void) {
    prepare();
    out[0] = receive_packet(&layer, given.first_word, given.second_word, given.size);
    return off;
}

const char *run_receive_begin(void) {
    prepare();
    out[0] = receive_begin(endpoint);
    out[1] = endpoint->descriptor;
    out[2] = endpoint->entries;
    return off;
}

const char *run_receive_page(void) {
    prepare();
    receive_page(endpoint);
    out[0] = endpoint->address;
    out[1] = endpoint->left;
    return off;
}

const char *run_receive_piece(void) {
    prepare();
    out[0] = receive_piece(endpoint, given.size);
    out[1] = endpoint->length;
    return off;
}

const char *run_receive_end(void) {
    prepare();
    out[0] = receive_end(endpoint);
    return off;
}

const char *run_write_check(void) {
    struct writing writing = {.va = given.va, .handle = given.handle};
    prepare();
    out[0] = write_check(&region - (given.handle & 0xFFF), given.most, &writing, &vi_words.tag, given.size);
    return off;
}
