/* Protection on the NIC: requests and headers of a process are copied out of its reach and checked before use. */
#ifndef EPOS_HOOKS_H
#define PROTECTION_BUFFER u32 row;
#define PROTECTION_WORDS \
    struct owner { \
        struct frame **slots; \
        u32 *entry, *entries, *entries_end, lap, staging, count_sent; \
        struct block *request, *requests, *requests_end; \
        u32 pinned, room, waiting, held, peer, sent; \
    } *owner, *leaving, owners[OWNERS]; \
    struct block *chain, *chain_begin, *chain_end; \
    u32 page, head[16], *rest, *rest_end;
#else

INLINE void protection_bell(struct nic *nic, u32 bell) {
    struct owner *owner = &nic->owners[nic->page & OWNERS - 1];
    u32 slot = 1u << (bell >> 16 & 31);
    if (UNLIKELY(nic->page >= OWNERS) || UNLIKELY(owner->waiting & slot)) {
        OFF_PATH("no process, or its frame waits already");
        return;
    }
    owner->waiting |= slot;
    nic->owner = owner;
}

INLINE void protection_fetch(struct nic *nic, u32 bell) {
    struct owner *owner = nic->owner;
    struct block *request = owner->request, *block = nic->chain, *next = block + 1;
    u32 size = (bell & 0xFFFF) - 4 * HEADER_WORDS, address = SHARED32(&request->eal);
    if (UNLIKELY(SHARED32(&request->eah)) || UNLIKELY(!size) || UNLIKELY(address < owner->pinned)
        || UNLIKELY(address + size > owner->room)) {
        OFF_PATH("not its memory: epos_forged");
        return;
    }
    owner->request = request + 1;
    if (UNLIKELY(request + 1 == owner->requests_end)) {
        OFF_PATH("round its requests");
        owner->request = owner->requests;
    }
    if (UNLIKELY(next == nic->chain_end)) {
        OFF_PATH("round the chain");
        next = nic->chain_begin;
    }
    nic->chain = next;
    block->csum = 0;
    block->len = size;
    block->lar = (u32)owner->slots[bell >> 16 & 127] + 4 * HEADER_WORDS;
    block->eah = 0;
    block->eal = address;
    SHARED32(&block->next) = (u32)next | 5;
}

INLINE void protection_tx(struct nic *nic, u32 bell) {
    struct owner *owner = nic->owner;
    u32 *from = owner->slots[bell >> 16 & 127]->words, *to = nic->head + 2, info = SHARED32(&from[EPOS_INFO]), at;
    u32 key = SHARED32(&from[EPOS_KEY]), number = SHARED32(&from[EPOS_NUMBER]);
    u32 wrong = (key >> 16 ^ (owner->peer >> OWNERS_SHIFT | 0x600)) | (number >> 24 ^ COMPOSITION);
    wrong |= ((info >> 24 & ~64u) ^ owner->peer) | ((info ^ bell - 4 * HEADER_WORDS) & 0xFFFF);
    if (UNLIKELY(wrong)) {
        OFF_PATH("not what it may say: epos_forged");
        return;
    }
    to[EPOS_KEY] = key;
    to[EPOS_NUMBER] = number;
    to[EPOS_INFO] = info;
#pragma unroll
    for (at = EPOS_INFO + 1; at < (HEADER_WORDS + 1 & ~1u); at++)
        if (at != EPOS_PROTECTION)
            to[at] = from[at];
    to[EPOS_PROTECTION] = bell >> 24 & OWNERS - 1;
    nic->leaving = owner;
}

INLINE void protection_tx_done(struct nic *nic, u32 bell) { nic->leaving->waiting &= ~(1u << (bell >> 16 & 31)); }

INLINE void protection_rx(struct nic *nic, u32 source, struct frame *frame) {
    if (UNLIKELY(nic->owners[source >> 6].held >= 7 / OWNERS)) {
        OFF_PATH("it may be one too many: epos_full");
        return;
    }
    nic->current->row = source;
}

#if HAS_PROTECTION
/* Send the rest of a frame from the Send Ring after its header. */
void epos_piece(struct nic *nic) {
    REGISTER_WRITE(ISR, SEND);
    REGISTER_WRITE(SMP, nic->rest);
    REGISTER_WRITE(SA, 0);
    REGISTER_WRITE(SMLT, nic->rest_end);
}

/* Count an invalid request or header, and complete its doorbell. */
void epos_forged(struct nic *nic, u32 *refused) {
    struct owner *owner = nic->owner;
    SHARED32(refused) = SHARED32(refused) + 1;
    SHARED32(&owner->count_sent) = ++owner->sent;
}

/* Skip a buffer with a held frame in the search for a free buffer. */
struct buffer *epos_passed_by(struct buffer *buffer) {
    buffer = buffer->next;
    if (UNLIKELY(!buffer->busy)) {
        OFF_PATH("this one");
        return buffer;
    }
    LOOP_AGAIN();
    return buffer;
}

/* Drop a frame that would exceed its process's share of the Receive Ring. */
void epos_full(struct nic *nic, u32 *refused) {
    SHARED32(refused) = SHARED32(refused) + 1;
    nic->current->busy = 0;
}
#endif

#endif
