/* Paths of crc.py. */
/* Update a CRC-32 by one word, byte by byte with a table of 256 words; the first byte in memory is the lowest here. */
u32 crc_word(u32 crc, const u32 *table, const u32 *from, const u32 *end) {
    crc ^= *from;
    crc = table[crc & 0xFF] ^ crc >> 8;
    crc = table[crc & 0xFF] ^ crc >> 8;
    crc = table[crc & 0xFF] ^ crc >> 8;
    crc = table[crc & 0xFF] ^ crc >> 8;
    if (UNLIKELY(from == end)) {
        OFF_PATH("done");
        return ~crc;
    }
    LOOP_AGAIN();
    return crc;
}

/* Compare the word behind the payload with the CRC. */
int crc_check(const u8 *payload, u32 bytes, u32 crc) {
    if (UNLIKELY(be32_load((u32 *)(payload + bytes - 4)) != crc)) {
        OFF_PATH("changed");
        return -1;
    }
    return 0;
}
