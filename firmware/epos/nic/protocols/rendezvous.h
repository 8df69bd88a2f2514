/* Rendezvous on the NIC: frames of a granted message go into the posted buffer. */
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
/* Find the page of the posted buffer for a frame. */
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

/* Take the host's doorbell that requests a buffer from a node. */
u32 epos_ask(u32 bell, u32 *number) {
    *number = bell & 0xFFFF;
    return bell >> 24;
}

/* Store another node's request, and test whether a buffer is posted. */
u32 epos_asked(struct nic *nic, u32 source, u32 number) {
    nic->rendezvous[source].asked = number;
    return SHARED32(&nic->rendezvous[source].posted) >> 21 == number;
}

/* Take the host's doorbell for a posted buffer, and test whether it was requested. */
u32 epos_posted(struct nic *nic, u32 bell) {
    return nic->rendezvous[bell >> 24].asked == SHARED32(&nic->rendezvous[bell >> 24].posted) >> 21;
}

/* Grant the posted buffer to a node. */
u32 epos_grant(struct nic *nic, u32 node) { return SHARED32(&nic->rendezvous[node].posted); }

/* Store a node's grant for the host. */
void epos_granted_in(struct nic *nic, u32 source, u32 word) { SHARED32(&nic->rendezvous[source].granted) = word; }
#endif

#endif
