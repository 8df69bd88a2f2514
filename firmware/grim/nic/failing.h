/* Steps of reports.py and clock.py: permanent failures, and the retry delay. Reports are delivered one at a time.
 * While MANY wait, no new message is taken, so that there is room for a report of every message that can still fail. */
enum { PLACES = 256, MANY = 16 };
struct failed { u32 head[10], cause, index; };

static struct failed failed[PLACES] UNSET; /* written before it is counted, so it needs no initial value */
static u32 first_failed, report_end;
static struct packet *report;

/* Report the permanent failure of a message in the scoreboard to its host; for a segmented message only the last
 * segment. */
static void fail(struct ni *ni, u32 token, u32 cause) {
    struct board *board = ni->by_token[token];
    u32 index = board - ni->boards, word;
    const u32 *head = (const u32 *)(board->base + board->entry[token - board->first_token].offset);
    u32 type = head[3] >> 26;
    struct failed *one = &failed[(first_failed + ni->reports) % PLACES];
    if (board >= ni->own || type == TYPE_SEGMENT || type == TYPE_TREE_SEGMENT) return;
    if (type >= TYPE_WRITE && type <= TYPE_REPLY && head[3] >> 16 & MORE) return;
    for (word = 0; word < 10; word++) one->head[word] = head[word];
    one->cause = cause;
    one->index = index;
    ni->reports++;
}

/* Deliver the oldest report to its host, if its queue has room and no other report is in progress. */
static APART void bring_report(struct ni *ni) {
    struct failed *one = &failed[first_failed % PLACES];
    struct channel *channel = &ni->channels[one->index];
    if (report_end && ((report_end - 1 - ni->block_done) & ni->block_mask) - 1 < ((ni->block_tail - ni->block_done) & ni->block_mask)) return;
    if (!fits(SHARED32(&channel->host_front), channel->queue_back, HEADER_BYTES, ni->host_limit)) return;
    error_report(ni, channel, report, (struct message *)one->head, one->cause, one->index);
    report_end = ni->block_tail + 1;
    first_failed++;
    ni->reports--;
}

/* Handle the timer: end the delay of the stream that was held first. */
static APART void resume(struct ni *ni) {
    if (ni->held_count) {
        retry_release(ni);
    } else {
        REGISTER_WRITE(ISR, ISR_TIME);
    }
}
