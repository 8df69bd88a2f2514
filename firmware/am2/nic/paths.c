/* Costs of AM-II's steps on the NIC's processor. One function is one path; the rules are in pymodels/costs/README.md. */
#include "paths.h"
#include "state.h"
#include "sending.h"
#include "receiving.h"
#include "paging.h"

/* ---- polling loop */

/* Sample the word that is set when the driver is ready. */
u32 am2_look_ready(u32 *ready) {
    if (UNLIKELY(SHARED32(ready) != 0)) {
        OFF_PATH("the driver is there");
        return 1;
    }
    LOOP_AGAIN();
    return 0;
}

/* Sample the driver's command. */
u32 am2_look_command(struct am2 *am2) {
    if (UNLIKELY((int)SHARED32(am2->command) > 0)) {
        OFF_PATH("a command");
        return 1;
    }
    return 0;
}

/* Sample the timer's bit of ISR. */
u32 am2_look_timer(u32 mask) {
    if (UNLIKELY(REGISTER_SAMPLE(ISR) & mask)) {
        OFF_PATH("it has expired");
        return 1;
    }
    return 0;
}

/* Sample the next descriptor of a send queue. An endpoint without a message costs this visit. */
u32 am2_look_queue(struct sending *send) {
    u32 head = SHARED32(&send->next->head);
    if (UNLIKELY((head ^ send->held) & OWNED)) {
        OFF_PATH("a message, or its turn after it was held");
        return head;
    }
    LOOP_AGAIN();
    return 0;
}

/* Read a row that the driver has changed. */
void am2_row(struct am2 *am2, u32 *rows) {
    u32 number = SHARED32(am2->command) - 1, *row = rows + (number << 3);
    struct endpoint *endpoint = am2->endpoints[number];
    if (UNLIKELY(endpoint == 0)) {
        OFF_PATH("there was none");
        return;
    }
    if (UNLIKELY(SHARED32(&row[0]) == 0)) {
        OFF_PATH("it is there no more");
        return;
    }
    endpoint->tag[0] = SHARED32(&row[1]);
    endpoint->tag[1] = SHARED32(&row[2]);
    endpoint->weight = SHARED32(&row[4]);
    endpoint->image = SHARED32(&row[5]);
    endpoint->asleep = SHARED32(&row[6]);
    if (UNLIKELY(SHARED32(&row[0]) != endpoint->frame)) {
        OFF_PATH("its frame is to move");
        return;
    }
    SHARED32(am2->command) = 0;
}

/* Release a queue that was held. */
void am2_wake(struct sending *send) {
    if (LIKELY(send->held)) send->held = 0;
}

/* ---- timers */

/* Start the time-out of a message, as the last of the list. */
void am2_timer(struct am2 *am2, struct channel *channel) {
    struct channel *last = am2->due_last;
    u32 now = REGISTER_READ(RTC);
    channel->due = now + am2->timeout;
    channel->before = last;
    channel->after = 0;
    am2->due_last = channel;
    if (UNLIKELY(last == 0)) {
        OFF_PATH("the only one");
        am2->due_first = channel;
        REGISTER_WRITE(IT0, am2->timeout);
        return;
    }
    last->after = channel;
}

/* Check the time-out of the first message of the list. */
struct channel *am2_timer_look(struct am2 *am2) {
    struct channel *first = am2->due_first, *next;
    u32 left;
    if (UNLIKELY(first == 0)) {
        OFF_PATH("none");
        return 0;
    }
    left = first->due - am2->now;
    if (UNLIKELY((int)left > 0)) {
        OFF_PATH("not yet");
        REGISTER_WRITE(IT0, left);
        return 0;
    }
    next = first->after;
    am2->due_first = next;
    if (LIKELY(next != 0)) next->before = 0;
    LOOP_AGAIN();
    return first;
}
