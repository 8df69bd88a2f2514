/* Structures of layout.py, and `ni`: the block of the firmware's variables, whose address is in a register. */
#include "paths.h"
#include "../../common/nic/block.h"
#include "../../common/nic/events.h"

/* One byte of big-endian memory. */
#ifndef BYTE
#define BYTE(at) (*(u8 *)(at))
#endif

enum { WAITING, SENT, DONE, FETCHING, ANSWERED };
enum { WAKE = 4, HEADER_BYTES = 32, ROUTE_BYTES = 8, GRIM_ID = 0x0636, OWN_DEVICE = 1 };
enum { SENTINEL = 0x5EAF00D5 };
enum { TYPE_ACK = 0x30, TYPE_NACK, TYPE_ERROR, TYPE_SYNC, TYPE_SYNC_ANSWER, TYPE_SEGMENT = 2, TYPE_REPORT, TYPE_WRITE, TYPE_READ = 6, TYPE_REPLY, TYPE_TREE_SEGMENT = 9 };
enum { MORE = 2, UNKNOWN_ENDPOINT = 1, UNKNOWN_TYPE };
enum { TYPE_PHYSICAL = 5, CARD_DEVICE = 2 };
#define CARD_BANKS 0xE1000000u

struct route { u32 high, low, skip, unused; };
struct control { u32 route_high, route_low, w0, w1; };
struct message { u32 route_high, route_low, w0, w1, w2, w3, argument[4], payload[8]; };
struct packet { u32 w0, w1, w2, w3, argument[4], payload[8]; };
struct entry { u32 offset; u16 size, stream; u8 sequence, state, again, unused; u32 spare; };
/* A hybrid queue has no fetched payloads. */
struct channel { u32 front, back, host_front, host_base; union { u32 payload_front, fetched; }; u32 next, queue_back, queued; };
struct board { u32 first, count, slots, first_token, base, blocked, head; struct entry *entry; struct channel *channel; u32 unused[7]; };
struct outgoing { u8 sequence, in_flight, waiting, flags; };
struct incoming { u8 expected, refusing, unused[2]; };
struct fixed { u32 va, size, pa, used; };
struct piece { u32 pa, bytes; };
struct window { u32 va, size, count, answer, end; struct piece piece[16]; };
struct job { struct packet *data; struct incoming *in; struct outgoing *out; u32 source, target, va, size, lock, value, whole, place, found; struct piece *piece, *lock_piece; u32 reader; };
struct opened { u32 begin, size; };
struct waiting { u32 first, count; struct buffer *buffer[256]; };
struct unanswered { u8 base, age, unused[2]; u32 spare, answered[8]; };
struct held { u32 due, stream; };
struct ring { u32 front, back; struct ring *other; };
struct buffer { struct packet *data; u32 free, drained, limit, *sentinel; struct buffer *pair; };
struct queued { struct buffer *frees; u32 key; };
struct tree { u32 place, known; };
struct replica { struct packet *data; struct board *board; u32 place, length, source; };

/* The counters come first, in the order of words.py, because the host reads them. A sent message is counted in `sent`
 * or, if it was sent before, in the next counter. */
struct ni {
    u32 sent, resent, accepted, dropped, acks, nacks_sent, nacks_seen, rolled_back, queued_control, errors_sent, errors, early, starved, blocked, bad;
    u32 out_of_sequence, strange, overlong, sync_sent, hits_static, hits_runtime, misses, remote_writes, remote_reads, replies, fragments, jobs_parked;
    u32 timeouts, duplicates, stale, unreachable, messages_queued, copies, parted, foreign, unsent;
    struct ring *ring;
    u32 card_limit;
    struct channel *channels, *behind_channels, *early_channel;
    struct board *boards, **by_token;
    struct slot **slot_at;
    struct route *routes;
    struct outgoing *outgoing;
    struct incoming *incoming;
    struct block *block;
    u32 *pointer;
    struct queued *queued;
    struct control *control;
    u16 *ready;
    u8 *news;
    u32 *doorbells;
    u32 *cursor;
    u8 *by_sequence;
    struct waiting *waiting;
    u32 share, share_mask;
    u32 second, second_limit;
    struct unanswered *unanswered;
    struct entry *late;
    u8 *tries, *tags;
    struct held *held;
    struct buffer *armed, *other;
    u32 block_tail, block_done, block_mask, control_head, control_waiting, control_mask;
    u32 ready_head, ready_count, ready_mask, held_head, held_count, held_mask, retry_delay;
    struct block *fetch;
    struct entry **fetched;
    u32 fetch_tail, fetch_done, fetch_mask;
    u32 news_head, news_count, channel_mask, consumer, doorbell_mask;
    u32 busy, prepared, prepared_skip, prepared_limit, prepared_stream, prepared_align, window, limit, host_limit, me_word, answer_word, me, nodes, channel_count;
    u32 node_shift, channel_shift, sources, targets, slot, host_slot, cut_through, least, early_offset, early_length, heard, answered;
    struct fixed *fixed;
    struct window *windows;
    u32 *map, *request, *kernel, *freed_word, freed, *transfers;
    struct job *parked;
    u32 victim, victim_mask, request_number, stalled, storing, own_limit, own_first_token;
    struct board *own;
    u32 most_tries;
    u32 wish, searches, ticks;
    struct tree *trees;
    struct board *tree_boards;
    u8 *first_channel;
    u32 tree_count, tree_limit, reports_afar;
    u32 *sentinel[2], seen[2]; /* Sentinel words that long messages change, and their last values. */
    u32 reports;
#ifdef ENGINE
    struct engine engine;
#endif
};
