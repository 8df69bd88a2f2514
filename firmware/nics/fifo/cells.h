/* Cell FIFOs of a FIFO card. */

/* Send a cell: check for room, write its header and the word with source, number and bytes left. */
u32 cell(u32 *room, u8 *numbers, u32 me, u32 destination, u32 first, u32 left) {
    u32 number;
    if (UNLIKELY(*room == 0)) {
        OFF_PATH("the FIFO is full");
        return 1;
    }
    *room = *room - 1;
    number = numbers[destination] + 1 & 0xFF;
    numbers[destination] = number;
    PIO_WRITE(BE32(number << 20 | me << 10 | destination << 4));
    PIO_WRITE(BE32(me << 24 | number << 16 | first | left));
    return 0;
}

/* Sample STATUS: number of received or waiting cells. */
u32 look_status(u32 *level) {
    u32 status = BE32(PIO_READ());
    *level = status >> 16;
    if (UNLIKELY(*level != 0)) {
        OFF_PATH("cells are there");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Read the first word of a cell: source, bytes left, and the place where its message is assembled. */
u32 take_cell(u32 *there, u32 **ends) {
    u32 word = BE32(PIO_READ());
    u32 left = word & 0x7FFF, source = word >> 24;
    u32 bytes = left < 44 ? left : 44;
    *there = *there - 1;
    ends[source] += (bytes + 3) >> 2;
    PIO_WRITE(0);
    return bytes;
}
