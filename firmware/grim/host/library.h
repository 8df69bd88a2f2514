/* Structures of the library, and code that several paths share. */
#include "paths.h"

enum { ROUTE_BYTES = 8, HEADER_BYTES = 32, RING = 64, ACTIVE = 1, SEGMENT = 2, FIRST_NUMBER = 16 };

struct header { u32 w0, w1, w2, w3; int argument[4]; };
struct queue { u32 *at; u32 back, front, limit, *back_register, locked; struct piece *overflow; u32 payload_back, payload_front, payload_limit; };
struct inbox { u32 *back; struct header *ring; u32 position, told, limit, *front_register; };
struct target { u32 w1, w2, w3; };
typedef void handler_call(u32, int, int, int, int, void *);
struct piece { struct piece *next; u32 words[7], bytes; u32 data[8]; };
struct name { struct name *next; u32 hash, number; char text[16]; };
struct grim {
    struct queue queue[32];
    struct inbox inbox[32];
    struct target target[64];
    handler_call *function[256];
    struct name *names[256];
    u32 enabled, polling, errors, channels, nodes, segment, handlers, poll_first, tree_channels[256];
};
struct member { u32 vnn, channels, used, place; };
struct buffer { u32 virtual_address, physical_address, size; };

static inline u32 following(u32 offset, u32 size, u32 limit) {
    offset += size;
    if (UNLIKELY(offset >= limit)) {
        OFF_PATH("wraps");
        offset = 0;
    }
    return offset;
}

static inline u32 fits(u32 front, u32 back, u32 size, u32 limit) {
    if (UNLIKELY(back < front)) {
        OFF_PATH("wrapped");
        return back + size < front;
    }
    if (LIKELY(back + size < limit)) return 1;
    return front != 0;
}

/* Write header and back pointer of one message. The bus verbs copy the payload to the bus. */
static inline void inject(struct queue *queue, u32 w1, u32 w2, u32 w3, const int *argument, u32 bytes) {
    u32 size = ((bytes + 7) & ~7u) + ROUTE_BYTES + HEADER_BYTES;
    PIO_WRITE(0);
    PIO_WRITE(BE32(w1));
    PIO_WRITE(BE32(w2));
    PIO_WRITE(BE32(w3));
    PIO_WRITE(BE32(argument[0]));
    PIO_WRITE(BE32(argument[1]));
    PIO_WRITE(BE32(argument[2]));
    PIO_WRITE(BE32(argument[3]));
    queue->back = following(queue->back, size, queue->limit);
    PIO_WRITE(BE32(queue->back));
}

struct block { struct block *next; u32 va, size, pa; };
struct region { u32 va, pa, taken[4], bits[512]; };
