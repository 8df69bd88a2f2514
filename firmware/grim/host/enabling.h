/* Paths of enable.py and database.py. */
/* Release the card from reset, and load its DMA list. */
void enable_card(u32 control, u32 blocks, u32 doorbells) {
    PIO_WRITE(BE32(control));
    PIO_WRITE(BE32(doorbells));
    PIO_WRITE(BE32(blocks));
}

/* Write the registers of one channel. */
struct buffer *enable_channel(struct buffer *buffer) {
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(BE32(buffer->physical_address));
    LOOP_AGAIN();
    return buffer + 1;
}

/* Enter one name of the configuration into the table of nodes. */
struct name *enable_name(struct grim *grim, struct name *name) {
    struct name **bucket = &grim->names[name->hash & 0xFF];
    name->number = grim->nodes++;
    name->next = *bucket;
    *bucket = name;
    LOOP_AGAIN();
    return name + 1;
}

/* Write the start word, or the word that declares the node active. */
void enable_start(u32 start) { PIO_WRITE(BE32(start)); }

/* Enter one name of a list into the database. */
struct name *sync_name(struct grim *grim, struct name *name, u32 number) {
    struct name **bucket = &grim->names[name->hash & 0xFF];
    name->number = number;
    name->next = *bucket;
    *bucket = name;
    LOOP_AGAIN();
    return name + 1;
}

/* Find the number of a name by its hash, comparing four words of text. */
u32 resolve(struct grim *grim, u32 hash, const u32 *text) {
    struct name *name = grim->names[hash & 0xFF];
    const u32 *own = (const u32 *)name->text;
    if (UNLIKELY(!name || name->hash != hash)) {
        OFF_PATH("not here");
        return 0;
    }
    if (UNLIKELY(own[0] != text[0] || own[1] != text[1] || own[2] != text[2] || own[3] != text[3])) {
        OFF_PATH("another name");
        return 0;
    }
    return name->number;
}

/* Clear one line of the NI's memory before its program restarts. */
void clear_line(u32 left) {
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    PIO_WRITE(0);
    if (UNLIKELY(!left)) {
        OFF_PATH("all of it");
        return;
    }
    LOOP_AGAIN();
}
