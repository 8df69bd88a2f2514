/* echo's firmware as a program for the LANai: the steps of paths.c in the order of __init__.py. The host writes the table
 * of routes before it releases the reset. */
#include "layout.h"
#include "../../common/nic/pulse.h"
#include "paths.c"

enum { ONE = 1 };

static struct shared *const shared = (struct shared *)AT_CHAIN;
static struct slot *const slot = (struct slot *)AT_OUT;

/* Initialise the control blocks: the packet to the host's inbox, then the flag behind it. */
static void lay_out(u32 inbox) {
    shared->packet = (struct block){TERMINAL, 0, AT_PACKET, AT_IN, 0, inbox};
    shared->flag = (struct block){TERMINAL, 0, 4, AT_FLAG, 0, inbox + AT_PACKET};
    shared->one = ONE;
    dma_list(0, &shared->packet);
}

int main(void) {
    u32 inbox;
    do {
        inbox = look_inbox(shared);
    } while (!inbox);
    lay_out(inbox);
    arm(shared, AT_IN);
    for (;;) {
        if (look_slot(slot)) send(slot, (struct route *)AT_ROUTES);
        if (look_isr(1u << ISR_BIT_SEND)) sent(slot);
        if (look_isr(1u << ISR_BIT_RECV)) deliver(shared, AT_IN);
        DMA_SERVICE(look_isr);
        if (look_consumed(shared)) arm(shared, AT_IN);
    }
}
