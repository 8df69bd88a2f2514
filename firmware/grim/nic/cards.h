/* Paths of card_messages.py and card_power.py. */
struct assembly { u32 holder, since, patience; };

/* Check the place of a segment in a long message for the FPGA card, in addition to what each message costs. */
u32 card_segment(struct assembly *card, const struct packet *data, u32 stream) {
    u32 place = data->w1 >> 16;
    if (UNLIKELY(card->holder != (place & 1 ? stream : ~0u))) {
        OFF_PATH("the card accepts another message");
        return 0;
    }
    card->since = REGISTER_READ(RTC);
    card->holder = place & 2 ? stream : ~0u;
    return 1;
}

/* Check how long a long message keeps others from the FPGA card. */
u32 card_held(struct assembly *card) {
    if (UNLIKELY(REGISTER_READ(RTC) - card->since >= card->patience)) {
        OFF_PATH("no longer");
        card->holder = ~0u;
        return 0;
    }
    return 1;
}

/* Read a register of a card that has had no room for long, by a block of the host DMA. */
void card_look(struct ni *ni, u32 address) {
    ni->block_tail = post(ni, ni->block_tail, (u32)&ni->pointer[ni->block_tail * 2], address, 4, 1, 0, 0);
    REGISTER_WRITE(PULSE, 1);
}

/* Cancel one of the pending blocks if it is for a card that has not answered. */
u32 card_lost(struct ni *ni, u32 at, u32 slot) {
    struct block *block = &ni->block[at];
    if (UNLIKELY(SHARED32(&block->next) & TERMINAL)) {
        OFF_PATH("it is done");
        return at;
    }
    if (LIKELY(block->eal >> 24 == slot)) block->len = 0;
    LOOP_AGAIN();
    return (at + 1) & ni->block_mask;
}
