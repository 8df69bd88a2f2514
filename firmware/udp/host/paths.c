/* Cost of each step of UDP on the host's CPU: the kernel's code for sockets, UDP and IP, and the driver. Kernel entries,
 * interrupts, switches and signals are not included. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"

enum { MTU = 9000, HASH = 128, SLOTS = 64, PARTS = 64 };

struct frame { struct frame *next; u32 data, size, place, source; };
struct ip { u32 first, number, life, source, destination; };
struct udp { u32 ports, size_sum; };
struct event { struct event *next; u32 task, state; };
struct socket {
    struct socket *next;
    u32 port, peer, peer_port, route, room, closed, asynchronous, owner, flags;
    struct frame *first, **last;
    struct event *sleeper;
};
struct process { struct socket *files[64]; u32 limit, pending; };
struct partial { struct partial *next; u32 source, number, here, total; struct frame *parts[PARTS]; };
struct driver {
    u32 ordered, read, taken, base, free_begin, free_end, interrupts, given[SLOTS];
    u32 free[256];
};

/* Find the socket of a file number. */
static inline __attribute__((always_inline)) struct socket *file(struct process *process, u32 number) {
    struct socket *socket;
    if (UNLIKELY(number >= process->limit)) {
        OFF_PATH("no such number");
        return 0;
    }
    socket = process->files[number];
    if (UNLIKELY(!socket || socket->closed)) {
        OFF_PATH("closed");
        return 0;
    }
    return socket;
}

/* Return the folded ones' complement sum of five words. */
static inline __attribute__((always_inline)) u32 five(const u32 *at) {
    u32 sum = at[0], word;
    word = at[1]; sum += word; sum += sum < word;
    word = at[2]; sum += word; sum += sum < word;
    word = at[3]; sum += word; sum += sum < word;
    word = at[4]; sum += word; sum += sum < word;
    sum = (sum & 0xFFFF) + (sum >> 16);
    return ~((sum & 0xFFFF) + (sum >> 16)) & 0xFFFF;
}

/* Initialise a socket and its file number. */
u32 udp_socket(struct process *process, struct socket *socket, u32 number, u32 owner) {
    if (UNLIKELY(process->files[number] != 0)) {
        OFF_PATH("look for another number");
        return 0;
    }
    socket->port = socket->peer = socket->peer_port = socket->closed = socket->asynchronous = 0;
    socket->room = 65536;
    socket->first = 0;
    socket->last = &socket->first;
    socket->sleeper = 0;
    socket->owner = owner;
    process->files[number] = socket;
    return number;
}

/* Bind a free port. */
u32 udp_bind(struct process *process, u32 number, u32 port, struct socket **table) {
    struct socket *socket = file(process, number), **at = &table[port & (HASH - 1)];
    if (UNLIKELY(socket->port != 0)) {
        OFF_PATH("it has one");
        return 0;
    }
    if (UNLIKELY(*at != 0)) {
        OFF_PATH("look for it");
        return 0;
    }
    socket->port = port;
    socket->next = *at;
    *at = socket;
    return port;
}

/* Connect to a peer. */
u32 udp_connect(struct process *process, u32 number, u32 peer, u32 port, const u32 *routes) {
    struct socket *socket = file(process, number);
    u32 route = routes[peer & 255];
    if (UNLIKELY(route == 0)) {
        OFF_PATH("no way");
        return 0;
    }
    socket->peer = peer;
    socket->peer_port = port;
    socket->route = route;
    return 1;
}

/* Set an option (fcntl, setsockopt). */
u32 udp_option(struct process *process, u32 number, u32 option, u32 value) {
    struct socket *socket = file(process, number);
    if (LIKELY(option == 4)) socket->asynchronous = value >> 13 & 1;
    socket->flags = value;
    return 0;
}

/* Close a socket. */
u32 udp_close(struct process *process, u32 number, struct socket **table) {
    struct socket *socket = file(process, number), **at = &table[socket->port & (HASH - 1)];
    process->files[number] = 0;
    if (UNLIKELY(*at != socket)) {
        OFF_PATH("look for it");
        return 0;
    }
    *at = socket->next;
    socket->closed = 1;
    return 0;
}

/* Send a datagram: check socket and arguments, find the route, write the header. */
u32 udp_send(struct process *process, u32 number, u32 size, u32 peer, u32 port, const u32 *routes, struct udp *head) {
    struct socket *socket = file(process, number);
    u32 route;
    if (UNLIKELY(size > 65507 || port - 1 >= 65535 || socket->port == 0)) {
        OFF_PATH("bad argument, or no port yet");
        return 0;
    }
    route = routes[peer & 255];
    if (UNLIKELY(route == 0)) {
        OFF_PATH("no way");
        return 0;
    }
    head->ports = BE32(socket->port << 16 | port);
    head->size_sum = BE32((size + 8) << 16);
    return route;
}

/* Write the IP header of a frame, with its checksum. */
void udp_header(struct ip *ip, u32 size, u32 number, u32 place, u32 more, u32 source, u32 destination) {
    ip->first = BE32(0x45000000 | size);
    ip->number = BE32(number << 16 | more << 13 | place >> 3);
    ip->life = BE32(64 << 24 | 17 << 16);
    ip->source = source;
    ip->destination = destination;
    ip->life |= five(&ip->first) << 16;
}

/* Copy and add up 32 bytes. */
u32 udp_copy_sum(u32 *to, const u32 *from, const u32 *end, u32 sum) {
    u32 word;
    word = from[0]; to[0] = word; sum += word; sum += sum < word;
    word = from[1]; to[1] = word; sum += word; sum += sum < word;
    word = from[2]; to[2] = word; sum += word; sum += sum < word;
    word = from[3]; to[3] = word; sum += word; sum += sum < word;
    word = from[4]; to[4] = word; sum += word; sum += sum < word;
    word = from[5]; to[5] = word; sum += word; sum += sum < word;
    word = from[6]; to[6] = word; sum += word; sum += sum < word;
    word = from[7]; to[7] = word; sum += word; sum += sum < word;
    if (UNLIKELY(from + 8 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return sum;
}

/* Add up 32 bytes. */
u32 udp_sum(const u32 *from, const u32 *end, u32 sum) {
    u32 word;
    word = from[0]; sum += word; sum += sum < word;
    word = from[1]; sum += word; sum += sum < word;
    word = from[2]; sum += word; sum += sum < word;
    word = from[3]; sum += word; sum += sum < word;
    word = from[4]; sum += word; sum += sum < word;
    word = from[5]; sum += word; sum += sum < word;
    word = from[6]; sum += word; sum += sum < word;
    word = from[7]; sum += word; sum += sum < word;
    if (UNLIKELY(from + 8 == end)) {
        OFF_PATH("the last ones");
        return 0;
    }
    LOOP_AGAIN();
    return sum;
}

/* Driver: order a frame. */
u32 udp_transmit(struct driver *driver, u32 frame, u32 size, u32 node) {
    u32 ordered = driver->ordered;
    if (UNLIKELY(ordered - driver->read >= SLOTS)) {
        OFF_PATH("the ring is full");
        return 0;
    }
    driver->ordered = ordered + 1;
    driver->given[ordered & (SLOTS - 1)] = frame;
    PIO_WRITE(BE32(frame));
    PIO_WRITE(BE32(1u << 31 | size << 7 | node));
    return 1;
}

/* Poll the number of orders read by the NIC once. */
u32 udp_look_read(struct driver *driver) {
    u32 read = BE32(PIO_READ());
    if (UNLIKELY(read != driver->read)) {
        OFF_PATH("some are read");
        return read;
    }
    LOOP_AGAIN();
    return 0;
}

/* Interrupt routine: acknowledge and read back. */
u32 udp_interrupt(struct driver *driver) {
    driver->interrupts = driver->interrupts + 1;
    PIO_WRITE(BE32(1u << 30));
    return PIO_READ();
}

/* Take a received frame and give the NIC another buffer. */
u32 udp_frame(struct driver *driver, u32 *came, struct frame *frame) {
    u32 taken = driver->taken, slot = taken & (SLOTS - 1), begin = driver->free_begin;
    u32 first = be32_load(came), second = be32_load(came + 1);
    if (UNLIKELY(second == 0)) {
        OFF_PATH("none has come");
        return 0;
    }
    if (UNLIKELY(begin == driver->free_end)) {
        OFF_PATH("none is free");
        return 0;
    }
    frame->data = driver->given[slot];
    frame->size = second & 0x3FFF;
    frame->source = first >> 24;
    SHARED32(came + 1) = 0;
    driver->taken = taken + 1;
    driver->free_begin = begin + 1;
    driver->given[slot] = driver->free[begin & 255];
    PIO_WRITE(BE32(driver->given[slot]));
    return 1;
}

/* Check the IP header of a frame: version, size, checksum, address, protocol, fragment. */
u32 udp_ip(const struct ip *ip, struct frame *frame, u32 me) {
    u32 first = BE32(ip->first), size = first & 0xFFFF;
    if (UNLIKELY(first >> 24 != 0x45 || size < 20 || size > frame->size)) {
        OFF_PATH("not whole");
        return 0;
    }
    if (UNLIKELY(five(&ip->first) != 0)) {
        OFF_PATH("damaged");
        return 0;
    }
    if (UNLIKELY(ip->destination != me || (BE32(ip->life) >> 16 & 255) != 17)) {
        OFF_PATH("not ours");
        return 0;
    }
    frame->size = size;
    frame->place = BE32(ip->number) & 0x3FFF;
    if (UNLIKELY(frame->place != 0)) {
        OFF_PATH("a part");
        return 0;
    }
    return 1;
}

/* Add a fragment to its datagram. */
u32 udp_part(struct partial **table, const struct ip *ip, struct frame *frame) {
    u32 number = BE32(ip->number), place = number & 0x1FFF;
    struct partial *partial = table[(number >> 16 ^ BE32(ip->source)) & (HASH - 1)];
    if (UNLIKELY(!partial || partial->source != ip->source || partial->number != number >> 16)) {
        OFF_PATH("its first, or another's");
        return 0;
    }
    frame->place = place << 3;
    frame->next = partial->parts[0];
    partial->parts[0] = frame;
    partial->here = partial->here + frame->size - 20;
    if (UNLIKELY(!(number & 0x2000))) {
        OFF_PATH("the last part");
        return 0;
    }
    return partial->here == partial->total;
}

/* Deliver a complete datagram: find its socket, check the room, wake the sleeper. */
u32 udp_deliver(struct socket **table, const struct udp *head, struct frame *frame, u32 source) {
    u32 ports = BE32(head->ports), size = BE32(head->size_sum) >> 16;
    struct socket *socket = table[ports & (HASH - 1)];
    if (UNLIKELY(!socket || socket->port != (ports & 0xFFFF))) {
        OFF_PATH("look for it");
        return 0;
    }
    if (UNLIKELY(size != frame->size - 20 || socket->room < frame->size)) {
        OFF_PATH("bad size, or no room");
        return 0;
    }
    if (UNLIKELY(socket->peer && (socket->peer != source || socket->peer_port != ports >> 16))) {
        OFF_PATH("not from its peer");
        return 0;
    }
    socket->room = socket->room - frame->size;
    frame->next = 0;
    *socket->last = frame;
    socket->last = &frame->next;
    if (LIKELY(socket->sleeper != 0)) socket->sleeper->state = 1;
    return socket->asynchronous;
}

/* Receive the oldest datagram: fold its sum, report its source. */
u32 udp_receive(struct process *process, u32 number, u32 sum, u32 *from, struct driver *driver) {
    struct socket *socket = file(process, number);
    struct frame *frame = socket->first;
    if (UNLIKELY(!frame)) {
        OFF_PATH("none is here");
        return 0;
    }
    socket->first = frame->next;
    socket->room = socket->room + frame->size;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    if (UNLIKELY(sum != 0xFFFF)) {
        OFF_PATH("damaged");
        return 0;
    }
    from[0] = 2 << 16 | *(const u16 *)(frame->data + 20);
    from[1] = frame->source;
    driver->free[driver->free_end & 255] = frame->data;
    driver->free_end = driver->free_end + 1;
    return frame->size - 28;
}

/* select: test one socket. */
u32 udp_select(struct process *process, u32 number, u32 wanted, u32 found) {
    struct socket *socket = file(process, number);
    if (LIKELY(wanted >> (number & 31) & 1)) found |= (u32)(socket->first != 0) << (number & 31);
    LOOP_AGAIN();
    return found;
}
