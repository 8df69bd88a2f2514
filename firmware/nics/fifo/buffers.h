/* Buffers of a FIFO card: polling of their states. */

/* Sample the descriptor of a used buffer: has the card sent it? */
u32 look_descriptor(void) {
    if (UNLIKELY((BE32(PIO_READ()) >> 28) == 2)) {
        OFF_PATH("it is sent");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Sample RX_READY. */
u32 look_ready(void) {
    if (UNLIKELY((int)BE32(PIO_READ()) < 0)) {
        OFF_PATH("a packet is there");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}
