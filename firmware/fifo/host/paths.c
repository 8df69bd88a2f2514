/* Cost of each step of the FIFO card's driver on the host. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"
#include "../../nics/fifo/words.h"
#include "../../nics/fifo/buffers.h"
#include "../../nics/fifo/cells.h"

struct partner { u32 turn, route[2], first, route_bytes; };

/* Check the arguments, choose the partner's next buffer, store route, header, descriptor and buffer number. */
u32 fill(u32 partners, struct partner *partner, u32 destination, u32 me, u32 *number, u32 bytes) {
    u32 turn, next, buffer;
    if (UNLIKELY(destination >= partners) || UNLIKELY(bytes > 2024)) {
        OFF_PATH("bad argument");
        return 1;
    }
    turn = partner->turn;
    partner->turn = turn + 1 & 7;
    buffer = partner->first + turn;
    next = *number + 1 & 0xFF;
    *number = next;
    PIO_WRITE(partner->route[0]);
    PIO_WRITE(partner->route[1]);
    PIO_WRITE(BE32(0x0F1Fu << 16 | me << 8 | next));
    PIO_WRITE(BE32(destination << 16 | bytes));
    PIO_WRITE(BE32(1u << 28 | (8 - partner->route_bytes) << 16 | partner->route_bytes + 8 + bytes));
    PIO_WRITE(BE32(buffer));
    return 0;
}

/* Decode RX_READY and the header of a packet: address, source, size; then release the buffer. */
u32 take(u32 ready, u32 base, u32 *source, u32 *place) {
    u32 number = ready >> 16 & 127;
    *place = base + number * 2048 + 8;
    *source = BE32(PIO_READ()) >> 8 & 0xFF;
    PIO_WRITE(0);
    PIO_WRITE(BE32(number));
    return BE32(PIO_READ()) & 0xFFFF;
}
