/* GRIM's NI firmware in C: the steps of paths.c in the order of scan.py. boot.py rejects the options that it does not
 * support. */
#include "layout.h"
#define ENGINE (&ni->engine)
#define ENGINE_CHAIN(chains) 0 /* Fetched payloads would use chain 2, but this firmware has none. */
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

/* Handle a freed block of registered memory; there are no translations to discard. */
static APART void signalled(struct ni *ni) {
    REGISTER_WRITE(ISR, ISR_LANAI_SIG);
    if (SHARED32(ni->freed_word) != ni->freed) translate_freed(ni);
}

/* Process the engines' events by a sample of ISR. With `again`, a timer event requests that the notices be repeated. */
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

/* Poll the sentinels of both receive buffers. */
static INLINED void arrivals(struct ni *ni) {
    if (poll_arrival(ni->sentinel[0], ni->seen[0])) covered(ni, &buffers[0], &ni->seen[0]);
    if (poll_arrival(ni->sentinel[1], ni->seen[1])) covered(ni, &buffers[1], &ni->seen[1]);
}

/* Notify every other NI that this one was reset, until each has answered and has sent its own notice. */
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

/* Return true if a turn has more to do than to poll: reports to deliver, streams that may retransmit. */
static INLINED u32 more(struct ni *ni) { return ni->reports | ni->ready_count; }

/* Poll for events until one occurs, and process it; return the channel at which the search continues. Nothing is
 * stored while nothing is found, so the firmware's own variables cannot change and are read once, before the loop. */
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

/* Run the main loop forever, after a reset preceded by the synchronisation. */
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
