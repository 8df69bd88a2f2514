// Rings, memories, settings and trace of the doorway: see doorway.h.
#define _GNU_SOURCE
#include "doorway.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---------------------------------------------------------------- memories
static struct { uint8_t *base, *closed; uint64_t size, granted_from, granted_to; int unit, watches; uint64_t watch[DW_WATCHES]; } memories[DW_MEMORIES];
uint8_t dw_armed[DW_MEMORIES][DW_WATCHES];   // Python arms a watch before it waits; the change that it sees disarms it
enum { INVARIANT_UNIT = 17408 };             // unit of the events of violated invariants, above those of the cluster
enum { DW_PAGE = 4096 };                     // bytes
enum { EVENT_WATCH = 1, EVENT_WILD = 2 };   // codes raised by the doorway itself; others come from RTL, above 15
enum { EVENT_INTERRUPT = 34 };              // hdl/sim/cluster/sim_interrupt.sv

// Sparse: a page exists once touched.
uint8_t *dw_memory_create(int memory, uint64_t size, int unit) {
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return NULL;
  memories[memory].base = base;
  memories[memory].size = size;
  memories[memory].unit = unit;
  memories[memory].watches = 0;
  memories[memory].granted_from = memories[memory].granted_to = 0;
  free(memories[memory].closed);
  memories[memory].closed = NULL;
  return base;
}
uint8_t *dw_memory(int memory, uint64_t address, int bytes) {
  if (address + (uint64_t)bytes > memories[memory].size) return NULL;
  return memories[memory].base + address;
}
int dw_memory_unit(int memory) { return memories[memory].unit; }
// Limit writes from the bus to the allocated range [from, to) from now on (to = 0: no limit).
void dw_grant(int memory, uint64_t from, uint64_t to) {
  memories[memory].granted_from = from;
  memories[memory].granted_to = to;
}
// Forbid writes from the bus to a page from now on (closed), or allow them again.
void dw_close(int memory, uint64_t address, int closed) {
  if (!memories[memory].closed) memories[memory].closed = calloc(memories[memory].size / DW_PAGE + 1, 1);
  if (memories[memory].closed) memories[memory].closed[address / DW_PAGE] = (uint8_t)closed;
}
// Watch a word of a memory. Returns its slot, or -1 without a free slot.
int dw_watch_add(int memory, uint64_t address) {
  int slot = memories[memory].watches;
  if (slot == DW_WATCHES) return -1;
  memories[memory].watch[slot] = address & ~3ull;
  memories[memory].watches++;
  return slot;
}
// Reuse a slot without a waiter for another word.
void dw_watch_move(int memory, int slot, uint64_t address) { memories[memory].watch[slot] = address & ~3ull; }

static dw_hooks hooks;
void dw_set_hooks(dw_hooks h) { hooks = h; }
int64_t dw_now(void) { return hooks.now ? hooks.now() : 0; }

long long san_mem_read(int memory, int address) {
  uint64_t a = (uint32_t)address & ~7u, word;
  uint8_t *p = dw_memory(memory, a, 8);
  if (!p) { san_event(dw_now(), memories[memory].unit, EVENT_WILD, a, 0); return -1; }
  memcpy(&word, p, 8);
  if (dw_strikes) word ^= dw_struck(STRIKE_READ, memory, dw_now());
  return (long long)word;
}
// Return the flipped bits that lie in written bytes.
static uint64_t enabled(uint64_t struck, uint64_t mask) {
  while (mask && struck && !(struck & mask)) struck = struck << 8 | struck >> 56;
  return struck;
}
void san_mem_write(int memory, int address, long long data, int enables) {
  uint64_t a = (uint32_t)address & ~7u, old, mask = 0;
  uint8_t *p = dw_memory(memory, a, 8);
  if (!p) { san_event(dw_now(), memories[memory].unit, EVENT_WILD, a, 1); return; }
  if (memories[memory].granted_to && (a < memories[memory].granted_from || a >= memories[memory].granted_to)) {
    san_event(dw_now(), memories[memory].unit, EVENT_WILD, a, 2);
    return;
  }
  if (memories[memory].closed && memories[memory].closed[a / DW_PAGE]) {
    san_event(dw_now(), memories[memory].unit, EVENT_WILD, a, 3);
    return;
  }
  if ((enables & 0xff) == 0xff) mask = ~0ull;
  else for (int i = 0; i < 8; i++) if (enables >> i & 1) mask |= 0xffull << (8 * i);
  if (dw_strikes) data ^= (long long)enabled(dw_struck(STRIKE_WRITE, memory, dw_now()), mask);
  memcpy(&old, p, 8);
  uint64_t fresh = (old & ~mask) | ((uint64_t)data & mask);
  memcpy(p, &fresh, 8);
  for (int i = 0; i < memories[memory].watches; i++) {
    uint64_t w = memories[memory].watch[i];
    if (!dw_armed[memory][i] || (w & ~7ull) != a) continue;
    int shift = (w & 4) ? 32 : 0;
    if ((uint32_t)(old >> shift) == (uint32_t)(fresh >> shift)) continue;
    dw_armed[memory][i] = 0;
    san_event(dw_now(), memories[memory].unit, EVENT_WATCH, i, (int64_t)w);
  }
}

// ---------------------------------------------------------------- settings
static int32_t settings[DW_UNITS][DW_SETTINGS];
void dw_set(int unit, int key, int value) { settings[unit][key] = value; }
int san_cfg(int unit, int key) { return settings[unit][key]; }

// ---------------------------------------------------------------- events: RTL to Python
dw_event dw_events[DW_EVENTS];
uint64_t dw_event_head, dw_event_lost;   // written here; Python keeps and reports its own tail
uint64_t dw_event_tail;
static int64_t wake_due = -1;
void dw_wake_by(int64_t time) {
  if (wake_due >= 0 && wake_due <= time) return;
  wake_due = time;
  hooks.wake_at(time);
}
void san_event(long long time, int unit, int code, long long a, long long b) {
  if (dw_strikes && code == EVENT_INTERRUPT && a && dw_struck(STRIKE_INTERRUPT, unit, time)) return;
  if (dw_event_head - dw_event_tail == DW_EVENTS) { dw_event_lost++; return; }
  dw_events[dw_event_head++ % DW_EVENTS] = (dw_event){time, unit, code, a, b, 0, 0, 0};
  dw_wake_by(time | 1);
}
// Report that `unit` violated the invariant of this code.
void san_invariant(long long time, int unit, int code, int packet) { san_event(time, INVARIANT_UNIT, code, unit, (uint32_t)packet); }

// ---------------------------------------------------------------- commands: Python to RTL
// Python writes the rings itself, and notes in `dw_turn` which units it gave commands and when it wants to be woken; the
// doorway acts on it once, when Python's turn ends.
dw_command dw_commands[DW_UNITS][DW_COMMANDS];
uint32_t dw_command_head[DW_UNITS], dw_command_tail[DW_UNITS];
static int unit_clock[DW_UNITS];
void dw_unit_clock(int unit, int clock) { unit_clock[unit] = clock; }
int64_t dw_turn[8 + DW_TURN];   // 0: now, 1: next alarm (0 = none), 2: units that were given commands, 8...: these units
uint64_t dw_acts;
void dw_begin_turn(void) { dw_turn[0] = dw_now(); dw_acts++; }
void dw_end_turn(void) {
  for (int64_t i = 0; i < dw_turn[2]; i++) hooks.kick_at(unit_clock[dw_turn[8 + i]], dw_turn[0]);
  dw_turn[2] = 0;
  if (dw_turn[1]) dw_wake_by(dw_turn[1]);
}
// During Python's turn: the next edge of the unit's clock occurs.
void dw_kick_at(int unit, int64_t time) { hooks.kick_at(unit_clock[unit], time); }
void dw_kick(int unit) { hooks.kick_at(unit_clock[unit], dw_turn[0]); }
dw_command *dw_next_command(int unit, int64_t now) {
  dw_command *c = &dw_commands[unit][dw_command_tail[unit] % DW_COMMANDS];
  return dw_command_tail[unit] != dw_command_head[unit] && c->time < now ? c : NULL;
}
dw_command *dw_command_behind(int unit, int index) {
  const uint32_t at = dw_command_tail[unit] + (uint32_t)index;
  return at != dw_command_head[unit] ? &dw_commands[unit][at % DW_COMMANDS] : NULL;
}
int dw_has_command(int unit) { return dw_command_tail[unit] != dw_command_head[unit]; }
void dw_given_now(int unit, int64_t now) { if (dw_has_command(unit)) dw_commands[unit][dw_command_tail[unit] % DW_COMMANDS].time = now; }
void dw_pop_command(int unit) { dw_command_tail[unit]++; }

// Words of a command that are stored when Python, notified of an edge, would store them: after all other
// actions of that edge.
typedef struct { uint8_t *at; int64_t words[2]; size_t size; } late_store;
static late_store *late;
static int late_count, late_room;
void dw_store_late(int memory, const dw_command *c, int64_t now) {
  const int size = 4 * (int)(c->a >> 32);
  uint8_t *at = dw_memory(memory, (uint32_t)c->a, size);
  if (!at) return;
  if (late_count == late_room) late = realloc(late, (size_t)(late_room = 2 * late_room + 16) * sizeof *late);
  late[late_count++] = (late_store){at, {c->b, c->c}, (size_t)size};
  dw_wake_by(now | 1);
}
static int store_late(void) {
  const int count = late_count;
  for (int i = 0; i < count; i++) memcpy(late[i].at, late[i].words, late[i].size);
  late_count = 0;
  return count;
}

// With a callback the simulator calls Python directly; otherwise it toggles the top level's `wake` for cocotb.
static void (*python)(void);
void dw_set_python(void (*callback)(void)) { python = callback; }
int dw_wake_now(void) {
  wake_due = -1;
  const int stored = store_late();
  if (!python) return 0;
  if (stored && dw_event_head == dw_event_tail && (!dw_turn[1] || dw_turn[1] > dw_now())) {   // no work for Python
    if (dw_turn[1]) dw_wake_by(dw_turn[1]);
    return 1;
  }
  dw_begin_turn();
  python();
  dw_end_turn();
  return 1;
}

// ---------------------------------------------------------------- clocks
static int64_t clock_period[DW_CLOCKS];
static int clock_count, always_on, started;
static int64_t reset_end;
void dw_clock(int clock, int64_t period) { clock_period[clock] = period; if (clock >= clock_count) clock_count = clock + 1; }
void dw_start(int on, int64_t end_of_reset) { always_on = on; reset_end = end_of_reset; started = 1; hooks.start(on, end_of_reset); }
void dw_faults_on(void) { hooks.faults(); }
int dw_started(void) { return started; }
int dw_always_on(void) { return always_on; }
int64_t dw_reset_end(void) { return reset_end; }
int64_t dw_period(int clock) { return clock_period[clock]; }
int64_t dw_unit_period(int unit) { return clock_period[unit_clock[unit]]; }
int64_t dw_next_edge[DW_CLOCKS];   // set by the Verilator main loop before each refresh
long long san_next_edge(int clock) { return dw_next_edge[clock]; }
long long san_period(int clock) { return clock_period[clock]; }
// Return 1 if turns of a loop can be computed.
int dw_computes(void) { return hooks.quiet_until && !always_on && !dw_cores && !dw_monitors; }
// Return the time until which the hardware is idle, during Python's turn; 0 if it is active, has new commands, or the
// time is unknown.
int64_t dw_still_until(void) { return dw_computes() && !dw_turn[2] ? hooks.quiet_until() : 0; }
// The same beside a loop that reads a card whose processor may be within a path, so the processor must be idle, too.
int64_t dw_quiet_until(int processor) { return dw_processor_quiet(processor) ? dw_still_until() : 0; }
// The edge with this absolute index must occur although the clock may sleep. All 48 bits set: the index is unknown.
void san_alarm(int clock, long long edge) {
  if (edge != (1LL << 48) - 1) hooks.kick_at(clock, edge * clock_period[clock] - 1);
}

// ---------------------------------------------------------------- trace
static dw_trace *trace;
static uint64_t trace_room;
uint64_t dw_trace_count, dw_trace_lost;
int dw_trace_on = 1;
dw_trace *dw_trace_create(uint64_t records) {
  void *base = mmap(NULL, records * sizeof(dw_trace), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return NULL;
  trace = base;
  trace_room = records;
  return trace;
}
void dw_trace_message(int64_t time, int unit, int event, int packet, int argument, int64_t argument2, uint64_t message) {
  if (!dw_trace_on) return;
  if (dw_trace_count == trace_room) { dw_trace_lost++; return; }
  trace[dw_trace_count++] = (dw_trace){time, (uint32_t)unit, (uint16_t)event, 0, (uint32_t)packet, (uint32_t)argument, argument2, message};
}
void san_trace(long long time, int unit, int event, int packet, int argument, long long argument2) {
  const int named = (event >= DW_FIRST_NAMED && event <= DW_LAST_NAMED) || event == DW_CARD_TAKE || event == DW_CARD_GIVE;
  const uint64_t message = named ? dw_message_of(unit, event, packet, argument) : 0;
  dw_trace_message(time, unit, event, packet, argument, argument2, message);
}

dw_trace dw_trace_record(uint64_t number) { return trace[number]; }

// ---------------------------------------------------------------- unfinished work, by clock
uint8_t dw_flight[DW_CLOCKS];
void san_flight(int clock, int level) { dw_flight[clock] = (uint8_t)level; }
