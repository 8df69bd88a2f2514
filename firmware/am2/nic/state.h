/* AM-II's state in the NIC's memory. */

enum { OWNED = 1u << 31, DESCRIPTORS = 32, WORDS = 16, BLOCKS = 16, HEAD = 6, SHORT = 0, NODES = 64, NEVER = 0 };

struct descriptor { u32 head, where, tag[2], length, offset, arguments[8], reply_tag[2]; };
struct endpoint;

/* Send queue: next descriptor, oldest descriptor not returned to the host, number of returned ones. */
struct sending { struct descriptor *first, *next, *oldest, *end; u32 held, taken, freed; u32 *told; struct endpoint *endpoint; };

/* Receive queue: next place, next staging block with the last descriptor that named it, number of reported messages. */
struct receiving {
    struct descriptor *first, *next, *end;
    u32 arriving, told, block, blocks;
    struct descriptor *named[4];
};

struct endpoint {
    struct sending send[2];
    struct receiving receive[2];
    u32 number, tag[2], staging, weight, left, bytes;
    u32 *arrived;
    struct endpoint *ring, *before;
    u32 frame, image, state, asleep, asked;
    struct aside *aside;
};

/* Place of an endpoint. */
enum { THERE, LEAVING, ABSENT };

/* Message that waits at its endpoint, without a channel. */
struct aside { struct aside *next; struct descriptor *at; struct sending *queue; u32 node, size, address, name, code; };

/* Channel at its sender, with the message on it. */
struct channel {
    struct channel *free, *before, *after;
    u32 node, header, size, address, due, sent, name;
    struct descriptor *at;
    struct sending *queue;
};

/* Channel at its receiver: sequence (8), pending (1), code. */
struct heard { u32 state; };

struct control { u32 node, header, code; };
struct coming { struct descriptor *at; u32 head, node, header; struct heard *heard; struct endpoint *endpoint; struct receiving *queue; };

struct node { struct channel *free[2], *channels; struct heard *heard; u32 routed; };

/* `endpoints`: resident endpoints whose owners are awake; `all` has the others too. */
struct am2 {
    u32 me, medium, medium_log, retries, timeout, now, told;
    u32 bad, duplicates, resent, refused, dropped;
    struct endpoint *endpoints[64], *turn;
    struct channel *ready[8], *due_first, *due_last;
    u32 ready_first, ready_last, ready_count, room;
    struct control controls[64];
    u32 control_first, control_last;
    struct coming *coming, *coming_end, *coming_begin;
    u32 *command;
    struct node nodes[NODES];
    struct endpoint *all[64];
    u32 *notices, *notice, *notices_end;
    struct aside *asides;
};
