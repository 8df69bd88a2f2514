/* Paths of card_messages.py. */
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
