/* What each step of echo costs on the host. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"

struct packet { u32 type_source_number, destination_size, payload[16], flag; };

/* Check the arguments, build the header, hand header, 16 words of payload and the state of the slot to the bus. */
u32 send(u32 known_nodes, u32 me, u32 *number, u32 destination, const u32 *payload, u32 bytes) {
    u32 next;
    if (UNLIKELY(destination >= known_nodes) || UNLIKELY(bytes > 64)) {
        OFF_PATH("bad argument");
        return 1;
    }
    next = *number + 1 & 0xFF;
    *number = next;
    PIO_WRITE(__builtin_bswap32(0x0EC0u << 16 | me << 8 | next));
    PIO_WRITE(__builtin_bswap32(destination << 16 | bytes));
    PIO_WRITE(payload[0]);
    PIO_WRITE(payload[1]);
    PIO_WRITE(payload[2]);
    PIO_WRITE(payload[3]);
    PIO_WRITE(payload[4]);
    PIO_WRITE(payload[5]);
    PIO_WRITE(payload[6]);
    PIO_WRITE(payload[7]);
    PIO_WRITE(payload[8]);
    PIO_WRITE(payload[9]);
    PIO_WRITE(payload[10]);
    PIO_WRITE(payload[11]);
    PIO_WRITE(payload[12]);
    PIO_WRITE(payload[13]);
    PIO_WRITE(payload[14]);
    PIO_WRITE(payload[15]);
    PIO_WRITE(__builtin_bswap32(1));
    return 0;
}

/* One look at the flag behind the inbox. */
u32 look_flag(struct packet *inbox) {
    if (UNLIKELY(SHARED32(&inbox->flag) != 0)) {
        OFF_PATH("a packet is here");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Take the packet out of the inbox: who sent it, how long it is; its payload is read where it stands. */
u32 receive(struct packet *inbox, u32 *source) {
    u32 size = be32_load(&inbox->destination_size) & 0xFFFF;
    *source = be32_load(&inbox->type_source_number) >> 8 & 0xFF;
    SHARED32(&inbox->flag) = 0;
    PIO_WRITE(__builtin_bswap32(1));
    return size;
}
