/* Rendezvous on the NIC: a frame of a message that was granted goes into the posted buffer. */
#ifndef EPOS_HOOKS_H
#define RENDEZVOUS_WORDS struct { u32 posted, granted, asked, pages[PAGES]; } rendezvous[ROWS];
#else

INLINE void rendezvous_rx(struct nic *nic, u32 source, struct frame *frame) {
    if (UNLIKELY(frame->words[EPOS_RENDEZVOUS])) {
        OFF_PATH("straight: epos_direct");
        nic->sent = 0;
    }
}

#if HAS_RENDEZVOUS
/* A frame of a message that was granted: its page of the posted buffer. */
u32 epos_direct(struct nic *nic, u32 source, u32 offset) {
    u32 page = nic->rendezvous[source].pages[offset >> MTU_SHIFT];
    if (UNLIKELY(!page)) {
        OFF_PATH("beyond the posted buffer: it is dropped");
        return 0;
    }
    page += offset & MTU - 1;
    if (UNLIKELY(!ALLOWED(nic, source, page, MTU))) {
        OFF_PATH("not the process's: it is dropped");
        return 0;
    }
    return page;
}

/* The host asks a node for a buffer. */
u32 epos_ask(u32 bell, u32 *number) {
    *number = bell & 0xFFFF;
    return bell >> 24;
}

/* A node asks for one: is it posted? */
u32 epos_asked(struct nic *nic, u32 source, u32 number) {
    nic->rendezvous[source].asked = number;
    return SHARED32(&nic->rendezvous[source].posted) >> 21 == number;
}

/* The host has posted one: is it asked for? */
u32 epos_posted(struct nic *nic, u32 bell) {
    return nic->rendezvous[bell >> 24].asked == SHARED32(&nic->rendezvous[bell >> 24].posted) >> 21;
}

/* It is granted: what the host has posted goes to the node. */
u32 epos_grant(struct nic *nic, u32 node) { return SHARED32(&nic->rendezvous[node].posted); }

/* A node has granted one: the word goes to where the host looks. */
void epos_granted_in(struct nic *nic, u32 source, u32 word) { SHARED32(&nic->rendezvous[source].granted) = word; }
#endif

#endif
