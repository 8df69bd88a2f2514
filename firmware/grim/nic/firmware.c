/* GRIM on the NIC as a program that a LANai executes: the steps that paths.c has counted, in the order of scan.py. What it lacks,
 * boot.py refuses by name. */
#include "layout.h"
#define ENGINE (&ni->engine)
#define ENGINE_CHAIN(chains) 0 /* What is fetched would have chain 2; it has no such messages. */
#include "../../common/nic/pulse.h"
#include "ni.h"
#include "pieces.h"
#include "polling.h"
#include "sending.h"
#include "receiving.h"
#include "answers.h"
#include "freed.h"
#include "failing.h"
#include "configuration.h"
#include "arriving.h"
#include "delivered.h"
#include "leaving.h"

enum { SYNCHRONISING = 1, RUNNING };

enum { EVENTS = 1u << ISR_BIT_RECV | ISR_SEND | ISR_WAKE | ISR_TIME | ISR_BUFF | ISR_LANAI_SIG };

/* The driver has taken back a block of registered memory; there are no translations of it to forget. */
static APART void signalled(struct ni *ni) {
    REGISTER_WRITE(ISR, ISR_LANAI_SIG);
    if (SHARED32(ni->freed_word) != ni->freed) translate_freed(ni);
}

/* What the engines have done, by a sample of ISR. With `again`, the timer says that the notices are to be repeated. */
static INLINED void events(struct ni *ni, u32 isr, u32 *again) {
    if (poll_flag(isr, 1u << ISR_BIT_RECV)) {
        arrived(ni);
        isr = REGISTER_SAMPLE(ISR); /* That took long. */
    }
    if (poll_flag(isr, ISR_SEND)) send_done(ni);
    if (poll_flag(isr, ISR_WAKE) && DMA_WOKE(WAKE)) blocks_ended(ni);
    if (poll_flag(isr, ISR_TIME | ISR_BUFF)) {
        if (isr & ISR_BUFF) {
            receive_overlong(ni);
        } else if (again) {
            REGISTER_WRITE(ISR, ISR_TIME);
            *again = 1;
        } else {
            resume(ni);
        }
    }
    if (poll_flag(isr, ISR_LANAI_SIG)) signalled(ni);
}

/* The words that the first parts of long messages change. */
static INLINED void arrivals(struct ni *ni) {
    if (poll_arrival(ni->sentinel[0], ni->seen[0])) covered(ni, &buffers[0], &ni->seen[0]);
    if (poll_arrival(ni->sentinel[1], ni->seen[1])) covered(ni, &buffers[1], &ni->seen[1]);
}

/* Tell every other NI that this one is reset, until each has answered and been heard. */
static APART void synchronise(struct ni *ni) {
    u32 period = ((const struct configuration *)AT_PROGRAM_END)->sync_period;
    u32 others = ((2u << (ni->nodes - 1)) - 1) & ~(1u << ni->me), again = 1, vnn;
    SHARED32((u32 *)AT_STATE) = SYNCHRONISING;
    while ((ni->heard & ni->answered & others) != others) {
        if (again) {
            again = 0;
            if (!ni->busy)
                for (vnn = 0; vnn < ni->nodes; vnn++)
                    if ((others & ~ni->answered) >> vnn & 1) {
                        sync_notice(ni, vnn);
                        ni->sync_sent++;
                    }
            REGISTER_WRITE(IT0, period);
        }
        DMA_START();
        events(ni, REGISTER_SAMPLE(ISR), &again);
        arrivals(ni);
    }
    SHARED32((u32 *)AT_STATE) = RUNNING;
    tell_host(ni);
}

static void start_up(struct ni *ni) {
    struct buffer *first = buffers;
    do poll_start((u32 *)AT_START);
    while (SHARED32((u32 *)AT_START) != AT_STARTED);
    SHARED32(first->sentinel) = SHARED32(first->pair->sentinel) = SENTINEL;
    REGISTER_WRITE(RMP, first->data);
    REGISTER_WRITE(RML, first->limit);
    ni->armed = first;
}

/* Whether there is more to do in each turn than to look around: reports to bring, streams that may send again. */
static INLINED u32 more(struct ni *ni) { return ni->reports | ni->ready_count; }

/* Look at what others change, until there is something to do, and do it; where the search goes on. While nothing is found nothing is
 * stored: so the program's own variables stay as they are and are read once, before the loop. */
static INLINED struct channel *look_around(struct ni *ni, struct channel *at) {
    u32 *const first = ni->sentinel[0], *const second = ni->sentinel[1];
    const u32 first_seen = ni->seen[0], second_seen = ni->seen[1];
    const u32 closed = held(ni), again = more(ni);
    do {
        u32 isr = REGISTER_SAMPLE(ISR);
        if (UNLIKELY(poll_flag(isr, EVENTS))) {
            events(ni, isr, 0);
            return at;
        }
        if (UNLIKELY(poll_arrival(first, first_seen))) {
            covered(ni, &buffers[0], &ni->seen[0]);
            return at;
        }
        if (UNLIKELY(poll_arrival(second, second_seen))) {
            covered(ni, &buffers[1], &ni->seen[1]);
            return at;
        }
        if (UNLIKELY(!closed && search(ni, &at))) return taken(ni, at);
    } while (LIKELY(!again));
    return at;
}

static struct ni *served;

/* The main loop, for ever; after a reset the other NIs come first. */
void serve(void) {
    struct ni *ni = served;
    struct channel *at = searched;
    if (SHARED32((u32 *)AT_STATE) != RUNNING) synchronise(ni);
    for (;;) {
        DMA_START();
        if (UNLIKELY(more(ni))) {
            if (ni->reports) bring_report(ni);
            if (poll_resend(ni) == 1) send_again(ni);
        }
        if (LIKELY(!held(ni)) && search(ni, &at)) at = taken(ni, at);
        at = look_around(ni, at);
    }
}

int main(void) {
    struct ni *ni = served = configured((const struct configuration *)AT_PROGRAM_END);
    searched = ni->channels;
    start_up(ni);
    serve();
}
