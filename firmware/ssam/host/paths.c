/* Cost of each step of SSAM on the host's CPU. One function is one path; the rules are in pymodels/costs/README.md.
 * The paths of cells are the card driver's. The trap itself is the profile's `host.kernel_entry_ns`. */
#include "turns.h"
#include "../../nics/fifo/words.h"
#include "../../nics/fifo/cells.h"

enum { SLOT = 2048, NODES = 64, ARGUMENTS = 8, MOST = 2000 };

struct header { u32 key, handler; u8 source, destination, kind, arguments; u16 data, unused; };
struct call { u32 source, kind, arguments, size, replied; const u32 *words; const u8 *data; };
struct area { u32 next, put, taken; };
struct device { u32 key, area, next, receives, put, me; u8 partner[NODES]; };
struct message { struct header *slot; u32 bytes; struct message *behind; };
struct program { u32 key; struct device *device; };

static inline u16 be16(u16 x) { return (u16)(x << 8 | x >> 8); }

/* Check the arguments and write the header of a message into the slot at NEXT. */
u8 *ssam_compose(struct area *area, u32 handler, u32 destination, u32 kind, u32 arguments, u32 bytes, const u32 *open) {
    u32 next = SHARED32(&area->next);
    struct header *header = (struct header *)((u8 *)area + next);
    if (UNLIKELY(destination >= NODES || arguments > ARGUMENTS || bytes > MOST || open[destination] == 0)) {
        OFF_PATH("bad argument, or too many requests");
        return 0;
    }
    header->handler = BE32(handler);
    header->destination = (u8)destination;
    header->kind = (u8)kind;
    header->arguments = (u8)arguments;
    header->data = be16((u16)bytes);
    return (u8 *)(header + 1);
}

/* Copy one word of arguments or data into the slot. */
u32 *ssam_word(u32 *to, const u32 *from, const u32 *end) {
    *to = *from;
    if (UNLIKELY(from + 1 == end)) {
        OFF_PATH("the last one");
        return 0;
    }
    LOOP_AGAIN();
    return to + 1;
}

/* Kernel: check the header of the message at an offset, write key and source, advance NEXT. */
u32 ssam_trap_send(struct device *device, u32 offset, u32 *size) {
    struct header *header = (struct header *)(device->area + offset);
    u32 arguments, bytes;
    if (UNLIKELY(offset != device->next)) {
        OFF_PATH("not the next slot");
        return 1;
    }
    arguments = header->arguments;
    bytes = be16(header->data);
    if (UNLIKELY(header->destination >= NODES || !device->partner[header->destination]) ||
        UNLIKELY(arguments > ARGUMENTS || bytes > MOST || (u32)(header->kind - 1) > 1)) {
        OFF_PATH("no message");
        return 1;
    }
    header->key = BE32(device->key);
    header->source = (u8)device->me;
    *size = sizeof *header + 4 * arguments + bytes;
    device->next = LIKELY(offset + SLOT != 4096 + 4 * SLOT) ? offset + SLOT : 4096;
    SHARED32((u32 *)device->area) = device->next;
    return 0;
}

/* Kernel: begin a poll. */
u32 ssam_trap_poll(u32 *there, struct message *free) {
    if (UNLIKELY(free == 0)) {
        OFF_PATH("no memory for a message");
        return 1;
    }
    *there = 0;
    return 0;
}

/* Kernel: find the process and the receive slot of a complete message. */
u8 *ssam_file(struct message **whole, struct program *programs) {
    struct message *message = *whole;
    struct device *device;
    u32 key = message->slot->key;
    *whole = message->behind;
    if (UNLIKELY(programs->key != key)) {
        OFF_PATH("the next program");
        return 0;
    }
    device = programs->device;
    if (UNLIKELY(device->put - SHARED32((u32 *)(device->area + 8)) >= device->receives)) {
        OFF_PATH("no room");
        return 0;
    }
    device->put = device->put + 1;
    SHARED32((u32 *)(device->area + 4)) = device->put;
    return (u8 *)(device->area + 4096 + SLOT * (4 + device->put));
}

/* Copy 32 bytes of a message. */
u32 *ssam_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Poll the number of received messages once. */
u32 ssam_look(const struct area *area, u32 taken) {
    if (UNLIKELY(SHARED32(&area->put) != taken)) {
        OFF_PATH("a message");
        return 1;
    }
    return 0;
}

/* Decode a received message, find its handler, release its slot. */
u32 ssam_dispatch(struct area *area, struct header *header, struct call *call, u32 *open, u32 *taken) {
    u32 handler = BE32(header->handler), arguments = header->arguments;
    call->source = header->source;
    call->kind = header->kind;
    call->arguments = arguments;
    call->size = be16(header->data);
    call->replied = 0;
    call->words = (u32 *)(header + 1);
    call->data = (u8 *)(header + 1) + 4 * arguments;
    if (UNLIKELY(handler == 0)) {
        OFF_PATH("only an answer");
        open[call->source] += 1;
    }
    *taken = *taken + 1;
    SHARED32(&area->taken) = *taken;
    return handler;
}
