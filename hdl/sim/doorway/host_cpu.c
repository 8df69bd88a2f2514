// Loads and stores of the host CPU as its bridge sees them: called at each edge of the PCI clock that occurs.
//
// Commands: STORE writes up to 32 immediate bytes, COPY stores bytes of host memory, LOAD reads one word, FENCE drains
// the write-combining buffers. Beats are 64-bit lanes. A command ends once the bridge has accepted its last beat, with
// an event (in the order of the commands) whose `a` is the value of a LOAD; an event before it reports that no card has
// answered. A quiet STORE ends without an event.
// A SPIN is the turns of a loop: read one word, then execute a path. It ends with an event, like a LOAD: after a read
// in which a bit of its mask differs, after a read while another task requests the CPU, and when there is no other
// activity, because its turns can then be computed.
#include <string.h>

#include "doorway.h"

enum { OP_STORE = 1, OP_COPY = 2, OP_LOAD = 3, OP_FENCE = 4, OP_SPIN = 5 };
enum { EVENT_TAKEN = 32, EVENT_LOADED = 33, EVENT_UNANSWERED = 35, EVENT_SPUN = 36 };
enum { TRACE_SPEND_START = 0x22, TRACE_SPEND_END = 0x23, TRACE_PIO_WRITE = 0x120, TRACE_PIO_READ = 0x122 };
enum { ALONE = 3 };        // turns without any other activity
enum { UNANSWERED = 2 };   // the data are discarded
enum { ACT_VALID = 1, ACT_WRITE = 2, ACT_COMBINE = 4, ACT_FENCE = 8, ACT_BUSY = 16 };

typedef struct {
  int state, combine, single;         // single: one word a beat (uncached stores are 32-bit)
  int quiet;                          // a store whose end is not awaited
  uint32_t address, left;             // address of the next byte to store; bytes left
  const uint8_t *source;
  uint8_t immediate[32];
  uint64_t data;
  int enables, offered;
  int spins, within, wanted;          // a SPIN is active; its path is executed; another task requests the CPU
  int64_t resume, duration;           // end of the path; its duration
  uint32_t expect, mask;
  int path, processor, alone;         // number in the trace; the card's unit; turns without any other activity
  uint64_t acts;                      // `dw_acts` when the last turn began
} host_cpu;
static host_cpu cpus[DW_UNITS];
uint64_t dw_spun;

// A fault strikes a store when the CPU begins it: it flips one bit of an immediate store, or loses a store, which then
// never reaches the bus.
static void strike(host_cpu *h, int unit, int64_t now) {
  const uint64_t bits = h->source == h->immediate ? dw_struck(STRIKE_STORE, unit, now) : 0;
  for (uint32_t i = 0; i < 8; i++) h->immediate[i % h->left] ^= (uint8_t)(bits >> (8 * i));
  if (!dw_struck(STRIKE_LOST_STORE, unit, now)) return;
  if (!h->quiet) san_event(now, unit, EVENT_TAKEN, 0, 0);
  h->state = 0;
}

static void begin_spin(host_cpu *h, const dw_command *c) {
  h->state = OP_LOAD;
  h->spins = 1;
  h->left = 0;
  h->path = (int)(c->b & 0xffffffff);
  h->processor = (int)(c->b >> 32);
  h->expect = (uint32_t)c->c;
  h->mask = (uint32_t)(c->c >> 32);
  h->duration = c->d;
  h->alone = 0;
  h->acts = ++dw_acts;
}
static uint32_t word_of(const host_cpu *h, uint64_t data) { return __builtin_bswap32((uint32_t)(data >> (8 * (h->address & 4)))); }
// A read has finished. A turn that continues executes its path, like software that receives the value and is woken
// after the path.
static void spun(host_cpu *h, int unit, int64_t now, int unanswered, uint64_t data) {
  const uint32_t word = word_of(h, data);
  h->alone = dw_acts == h->acts && dw_processor_quiet(h->processor) ? h->alone + 1 : 0;
  h->within = !unanswered && !h->wanted && !((word ^ h->expect) & h->mask) && !(h->alone >= ALONE && dw_computes());
  if (h->within) {
    h->resume = ((now | 1) + h->duration) | 1;
    h->data = data;
    dw_kick_at(unit, h->resume);
    return;
  }
  h->spins = h->wanted = 0;
  san_event(now, unit, EVENT_SPUN, (int64_t)data, 0);
}
static void begin_turn(host_cpu *h, int unit) {
  san_trace(h->resume - h->duration, unit, TRACE_SPEND_START, 0, h->path, h->duration);
  san_trace(h->resume, unit, TRACE_SPEND_END, 0, h->path, h->duration);
  h->within = 0;
  h->state = OP_LOAD;
  h->left = 0;
  h->acts = ++dw_acts;
}
// During Python's turn: another task requests the CPU, or an input of the loop has changed. Returns 0 if the SPIN ends
// after its read, with an event. Otherwise the SPIN has ended, and its path ends at the returned time; the last value
// read is in `dw_spun`.
int64_t dw_want_cpu(int unit, int64_t now) {
  host_cpu *h = &cpus[unit];
  if (!h->within || now > h->resume) { h->wanted = h->spins || dw_has_command(unit); return 0; }
  h->within = h->spins = 0;
  dw_spun = h->data;
  return h->resume;
}

static void take_command(host_cpu *h, int unit, int memory, int64_t now) {
  dw_command *c = dw_next_command(unit, now);
  if (h->state || !c) return;
  h->state = (int)c->op;
  h->address = (uint32_t)c->a;
  h->left = (uint32_t)c->b & 0xffffff;
  h->combine = (c->b >> 24) & 1;
  h->single = !h->combine;
  h->quiet = (c->b >> 25) & 1;
  if (c->op == OP_SPIN) begin_spin(h, c);
  if (c->op == OP_STORE) {
    memcpy(h->immediate, &c->c, sizeof h->immediate);   // c, d, e, f: 32 bytes
    h->source = h->immediate;
  } else if (c->op == OP_COPY) {
    h->source = dw_memory(memory, (uint64_t)c->c, (int)h->left);
    if (!h->source) { san_event(now, unit, 2, c->c, 0); h->state = 0; }
  }
  dw_pop_command(unit);
  if (!h->state || (c->op != OP_STORE && c->op != OP_COPY) || !h->left) return;
  san_trace(now, unit, TRACE_PIO_WRITE, 0, h->address, h->left);
  if (dw_strikes) strike(h, unit, now);
}

static void next_beat(host_cpu *h) {
  uint32_t lane = h->address & 7, room = h->single ? 4 - (h->address & 3) : 8 - lane, n = h->left < room ? h->left : room;
  h->data = 0;
  memcpy((uint8_t *)&h->data + lane, h->source, n);
  h->enables = (int)(((1u << n) - 1) << lane);
  h->offered = (int)n;
}

// One edge of the PCI clock. `taken`: the beat offered in the clock that ended was accepted. `loaded`: read data have
// arrived, from a card (1) or without an answer (2).
int san_host_clock(int unit, int memory, long long now, int taken, int loaded, long long data) {
  host_cpu *h = &cpus[unit];
  if (taken && (h->state == OP_STORE || h->state == OP_COPY)) {
    h->address += (uint32_t)h->offered; h->source += h->offered; h->left -= (uint32_t)h->offered;
    if (!h->left && !h->quiet) san_event(now, unit, EVENT_TAKEN, 0, 0);
    if (!h->left) h->state = 0;
  } else if (taken && h->state == OP_FENCE) {
    san_event(now, unit, EVENT_TAKEN, 0, 0);
    h->state = 0;
  } else if (taken && h->state == OP_LOAD) {
    h->left = 1;                       // the address is sent; now wait for the data
  }
  if (loaded && h->state == OP_LOAD) {
    if (loaded == UNANSWERED) san_event(now, unit, EVENT_UNANSWERED, h->address, 0);
    h->state = 0;
    san_trace(now, unit, TRACE_PIO_READ, 0, h->address, word_of(h, (uint64_t)data));
    if (h->spins) spun(h, unit, now, loaded == UNANSWERED, (uint64_t)data);
    else san_event(now, unit, EVENT_LOADED, data, 0);
  }
  if (h->within && now > h->resume) begin_turn(h, unit);
  take_command(h, unit, memory, now);
  int busy = h->state || dw_has_command(unit) ? ACT_BUSY : 0;
  if (h->state == OP_LOAD) h->enables = 0xf << (h->address & 4);
  if (h->state == OP_LOAD) return busy | (h->left ? 0 : ACT_VALID);
  if (h->state == OP_FENCE) return busy | ACT_VALID | ACT_FENCE;
  if (!h->state) return busy;
  next_beat(h);
  return busy | ACT_VALID | ACT_WRITE | (h->combine ? ACT_COMBINE : 0);
}
int san_host_address(int unit) { return (int)(cpus[unit].address & ~7u); }
long long san_host_data(int unit) { return (long long)cpus[unit].data; }
int san_host_enables(int unit) { return cpus[unit].enables; }
