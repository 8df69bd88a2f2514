/* Paths of EPOS's library that contain a point-cut, written by hand for one composition each, without the protocols'
 * headers. */
#include "paths.h"

#ifdef WITH_MULTICAST
#define MANY 1
#else
#define MANY 0
#endif
#ifdef WITH_RENDEZVOUS
#define MEETING 1
#else
#define MEETING 0
#endif
#ifdef WITH_MTU
#define CUTTING 1
#else
#define CUTTING 0
#endif
#ifdef WITH_FLOW
#define FLOWING 1
#else
#define FLOWING 0
#endif
#ifdef WITH_RELIABILITY
#define RELIABLE 1
#else
#define RELIABLE 0
#endif
#ifdef WITH_ACTIVE
#define SWITCHING 1
#else
#define SWITCHING 0
#endif
#ifdef WITH_PROTECTION
#define GUARDED 1
#else
#define GUARDED 0
#endif

enum { NODES = 64, FRAMES = 8, SLOT = 65536, SLOTS = 4, LAST = 1 << 30 };
struct epos {
    u32 nodes, key, next, rung, sent, block, blocks, blocks_end, entry, entries, entries_end, staging, given_up;
    u32 slots[FRAMES], message[NODES], came[NODES], taken[NODES], told[NODES];
#if MANY
    u32 further;
#endif
#if MEETING
    u32 direct, asked[NODES], granted[NODES], posted[NODES], page;
#endif
#if FLOWING
    u32 count[NODES], credit[NODES], given[NODES];
#endif
#if RELIABLE
    u32 frames, awaited;
#endif
#if SWITCHING
    u32 bits;
#endif
};
enum { HEADER = 4 * (3 + MANY + MEETING + FLOWING + RELIABLE + SWITCHING + GUARDED) };

u32 epos_message(struct epos *epos, u32 node, u32 size) {
    u32 message;
    if (UNLIKELY(node >= epos->nodes) || UNLIKELY(size > SLOT)) {
        OFF_PATH("wrong");
        return 0;
    }
#if MEETING
    if (UNLIKELY(size > 4095)) {
        OFF_PATH("ask first");
    } else
        epos->direct = 0;
#endif
#if FLOWING
    {
        u32 count = epos->count[node];
        if (UNLIKELY(count - epos->credit[node] >= SLOTS)) {
            OFF_PATH("wait");
        } else
            epos->count[node] = count + 1;
    }
#endif
    message = epos->message[node];
    epos->message[node] = message + 1;
    return message;
}

static inline __attribute__((always_inline)) u32 headed(struct epos *epos, u32 node, u32 number, u32 size, u32 told) {
    u32 next = epos->next, rung = epos->rung;
    if (UNLIKELY(rung - epos->sent >= FRAMES)) {
        OFF_PATH("full");
        return 0;
    } else {
        epos->next = next + 1;
        epos->rung = rung + 1;
        PIO_WRITE(BE32(epos->key | (next & 0xFFFF)));
        PIO_WRITE(BE32(number));
        PIO_WRITE(BE32(told | size));
#if MANY
        PIO_WRITE(BE32(epos->further));
#endif
#if MEETING
        PIO_WRITE(BE32(epos->direct));
#endif
#if FLOWING
        {
            u32 taken = epos->told[node];
#if MANY
            if (UNLIKELY(epos->further)) {
                OFF_PATH("none");
                taken = 0xFFFFFFFFu;
            }
#endif
            epos->given[node] = taken;
            PIO_WRITE(BE32(taken));
        }
#endif
#if RELIABLE
#if SWITCHING
        if (UNLIKELY(!(epos->bits >> 4 & 1))) {
            OFF_PATH("off");
        } else
#endif
        {
            u32 frames = epos->frames + 1;
            epos->frames = frames;
            PIO_WRITE(BE32(frames));
        }
#endif
#if SWITCHING
        PIO_WRITE(BE32(epos->bits));
#endif
#if GUARDED
        PIO_WRITE(0);
#endif
        return next & FRAMES - 1;
    }
}

static inline __attribute__((always_inline)) void gone(struct epos *epos, u32 node) {
#if RELIABLE
#if SWITCHING
    if (UNLIKELY(!(epos->bits >> 4 & 1))) {
        OFF_PATH("off");
    } else
#endif
    epos->awaited = node;
#endif
}

void epos_frame(struct epos *epos, u32 node, u32 number, u32 size, u32 told) {
    u32 slot = headed(epos, node, number, size, told);
    PIO_WRITE(BE32(node << 24 | slot << 16 | (size + HEADER)));
    gone(epos, node);
}

void epos_frame_dma(struct epos *epos, u32 node, u32 number, u32 size, u32 told, u32 address) {
    u32 slot = headed(epos, node, number, size, told), block = epos->block, next = block + 24;
    if (UNLIKELY(next == epos->blocks_end)) {
        OFF_PATH("wrapped");
        next = epos->blocks;
    }
    epos->block = next;
    PIO_WRITE(0);
    PIO_WRITE(BE32(size));
    PIO_WRITE(BE32(epos->slots[slot] + HEADER));
    PIO_WRITE(0);
    PIO_WRITE(BE32(address));
    PIO_WRITE(BE32(next | 5));
    PIO_WRITE(BE32(node << 24 | 1u << 23 | slot << 16 | (size + HEADER)));
    gone(epos, node);
}

struct came { u32 source, communicator, size, at; };

u32 epos_take(struct epos *epos, u32 entry, struct came *came) {
    u32 source = entry >> 24 & 63, next = epos->entry + 4, size = entry & 0xFFFF;
    if (UNLIKELY(size > 0xFFFD)) {
        OFF_PATH("given up, or a greeting");
        return 0;
    }
    size += epos->came[source];
    if (UNLIKELY(next == epos->entries_end)) {
        OFF_PATH("wrapped");
        next = epos->entries;
    }
    epos->entry = next;
    if (UNLIKELY((entry & LAST) == 0)) {
        OFF_PATH("not the last");
        epos->came[source] = size;
        return 0;
    }
    epos->came[source] = 0;
    came->source = source;
    came->communicator = entry >> 16 & 0xFF;
#if MEETING
    if (UNLIKELY(size > 4095)) {
        OFF_PATH("no copy");
        epos->page = 0;
    }
#endif
    came->size = size;
    came->at = epos->staging + ((source << 2 | (epos->taken[source] & SLOTS - 1)) << 16);
    return size;
}

u32 epos_copied(struct epos *epos, u32 source) {
    u32 taken = epos->taken[source] + 1;
    epos->taken[source] = taken;
#if FLOWING
    if (UNLIKELY(taken - epos->given[source] >= SLOTS / 2)) {
        OFF_PATH("tell");
        epos->given[source] = taken;
    }
#endif
    return taken - epos->told[source];
}
