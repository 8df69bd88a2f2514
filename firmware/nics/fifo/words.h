/* Copies between host memory and a FIFO card, one word for each turn of the loop. */

/* Copy one word from host memory to the card. */
const u32 *store_word(const u32 *from, const u32 *end) {
    PIO_WRITE(*from);
    from++;
    if (UNLIKELY(from == end)) {
        OFF_PATH("the last word");
        return 0;
    }
    LOOP_AGAIN();
    return from;
}

/* Copy one word from the card to host memory. */
u32 *load_word(u32 *to, const u32 *end) {
    *to++ = PIO_READ();
    if (UNLIKELY(to == end)) {
        OFF_PATH("the last word");
        return 0;
    }
    LOOP_AGAIN();
    return to;
}
