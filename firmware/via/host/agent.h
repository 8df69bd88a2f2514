/* Kernel agent: connections. */

/* Send a message to another kernel agent: nine words, and a descriptor for them. */
void agent_send(struct kernel *kernel, u32 *place, const u32 *message, u32 node) {
    u32 tail;
    take_lock(&kernel->sends.lock);
    tail = kernel->sends.tail;
    place[0] = message[0];
    place[1] = message[1];
    place[2] = message[2];
    place[3] = message[3];
    place[4] = message[4];
    place[5] = message[5];
    place[6] = message[6];
    place[7] = message[7];
    place[8] = message[8];
    kernel->sends.tail = tail + 5;
    PIO_WRITE(BE32(1u << 30 | 1));
    PIO_WRITE(BE32((u32)place));
    PIO_WRITE(BE32(node << 16 | 36));
    PIO_WRITE(BE32(tail + 5));
    give_lock(&kernel->sends.lock);
}

/* Receive a message of another kernel agent: find its type and its connection. */
u32 agent_serve(struct kernel *kernel, const u32 *message, u32 **known) {
    u32 type = be32_load(&message[0]), source = be32_load(&message[1]), number = be32_load(&message[3]), origin = be32_load(&message[2]);
    u32 *connection = known[number & 63];
    struct vi *vi = &kernel->vis[be32_load(&message[4]) & 0x7F];
    if (UNLIKELY(!connection) || UNLIKELY(connection[0] != origin) || UNLIKELY(connection[1] != number)) {
        OFF_PATH("not known");
        return 0;
    }
    if (UNLIKELY(vi->state == ERROR)) {
        OFF_PATH("broken");
        return 0;
    }
    connection[2] = type;
    connection[3] = source;
    return type;
}
