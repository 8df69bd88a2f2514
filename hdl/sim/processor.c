// The LANai's processor as its memory and registers see it: a stream of clocks, some of which need one SRAM access.
//
// Called at each edge of the NIC clock that happens. Commands: WORK executes a number of clocks, POLL spins over steps that each
// end in sampling a word, READ and WRITE access a special register. All but a WRITE and a quiet WORK end with an event, in the
// order of the commands; its `a` is the step that hit or the value read. A command behind a quiet WORK counts from the end of it,
// as if Python had given it when it heard of that. An access that the arbiter refuses repeats its clock: the
// processor loses to DMA. The end is computed instead of ticked, and only that edge is asked for; while anything else on the NIC
// moves, that keeps the clock awake by itself, and a poll asks for the next edge too: what it polls may change. A skipped edge counts as
// an uncontended clock, so the result is the same with the clock always on.
#include <string.h>

#include "doorway.h"

enum { OP_WORK = 1, OP_POLL = 2, OP_READ = 3, OP_WRITE = 4, OP_DEFINE = 5 };
enum { EVENT_WORK = 16, EVENT_HIT = 17, EVENT_VALUE = 18 };
enum { ACT_SRAM = 1, ACT_REGISTER = 2, ACT_WRITE = 4, ACT_BUSY = 8 };
enum { TRACE_WORK_START = 0x20, TRACE_WORK_END = 0x21 };

typedef struct {
  int state;                       // OP_* in progress, 0 = idle
  int64_t clock, clocks, accesses; // within the work or the present step
  int64_t tag;                     // path number for the trace
  int quiet;                       // a work whose end Python does not wait for
  int64_t last_edge, planned;
  int loop, step, steps;
  int requested;                   // an SRAM access was asked for in the clock that just ended
  int reg_address;
  uint32_t reg_data;
} processor;
static processor processors[DW_UNITS];
dw_step dw_steps[DW_UNITS][DW_LOOPS][DW_STEPS];

// True when clock j of a run of n clocks with m accesses makes an access: spread evenly, the last clock included.
static int is_access(int64_t j, int64_t n, int64_t m) { return (j + 1) * m / n > j * m / n; }

static uint32_t sample(int memory, const dw_step *s, uint32_t isr) {
  if (s->is_register) return isr;
  uint8_t *p = dw_memory(memory, (uint32_t)s->address, 4);
  if (!p) return ~s->expect;
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static int hits(int memory, const dw_step *s, uint32_t isr) { return ((sample(memory, s, isr) ^ s->expect) & s->mask) != 0; }

static void enter_step(processor *p, const dw_step *steps, int step) {
  p->step = step;
  p->clock = 0;
  p->clocks = steps[step].clocks;
  p->accesses = steps[step].accesses;
}

// Clocks that passed while the NIC slept: nothing contended, nothing hit (or the edge would have been planned).
static void skip(processor *p, const dw_step *steps, int64_t n) {
  if (p->state == OP_WORK) { p->clock += n; return; }
  if (p->state != OP_POLL) return;
  int64_t loop = 0;
  for (int i = 0; i < p->steps; i++) loop += steps[i].clocks;
  for (n %= loop; n >= p->clocks - p->clock;) {
    n -= p->clocks - p->clock;
    enter_step(p, steps, (p->step + 1) % p->steps);
  }
  p->clock += n;
}

// Clocks from now to the next edge at which something visible happens; -1: never, as things stand.
static int64_t plan(const processor *p, int memory, const dw_step *steps, uint32_t isr) {
  if (p->state == OP_WORK) return p->clocks - p->clock;
  int64_t n = p->clocks - p->clock;
  for (int i = 0; i < p->steps; i++) {
    int step = (p->step + i) % p->steps;
    if (hits(memory, &steps[step], isr)) return n;
    n += steps[(step + 1) % p->steps].clocks;
  }
  return hits(memory, &steps[p->step], isr) ? n : -1;
}

// A quiet end wakes nobody; the next command is treated as the one that Python gives when it is woken.
static void end_work(processor *p, int unit, int64_t now) {
  p->state = 0;
  if (p->quiet) dw_given_now(unit, now);
  else san_event(now, unit, EVENT_WORK, 0, 0);
}

static void finish_clock(processor *p, int unit, int memory, int64_t now, int granted, uint32_t isr, uint32_t register_value) {
  dw_step *steps = dw_steps[unit][p->loop];
  if (p->state == OP_READ) {
    san_event(now, unit, EVENT_VALUE, register_value, 0);
    p->state = 0;
  } else if (p->state == OP_WRITE) {
    p->state = 0;
  } else if (p->state && !(p->requested && !granted)) {
    p->clock++;
    if (p->clock < p->clocks) return;
    if (p->state == OP_WORK) {
      san_trace(now, unit, TRACE_WORK_END, 0, (int)p->tag, p->clocks);
      end_work(p, unit, now);
    } else if (hits(memory, &steps[p->step], isr)) {
      san_event(now, unit, EVENT_HIT, p->step, 0);
      p->state = 0;
    } else {
      enter_step(p, steps, (p->step + 1) % p->steps);
    }
  }
}

// One command ends at the edge at which the next begins; taking one costs no clock of its own.
static void take_command(processor *p, int unit, int64_t now) {
  dw_command *c;
  while (!p->state && (c = dw_next_command(unit, now))) {
    if (c->op == OP_WORK) {
      p->clocks = c->a; p->accesses = c->b; p->tag = (int32_t)c->c; p->quiet = (int)(c->c >> 32); p->clock = 0;
      p->state = OP_WORK;
      san_trace(now, unit, TRACE_WORK_START, 0, (int)p->tag, p->clocks);
    } else if (c->op == OP_POLL) {
      p->loop = (int)c->a; p->steps = (int)c->b;
      enter_step(p, dw_steps[unit][p->loop], (int)c->c);
      p->state = OP_POLL;
    } else {
      p->reg_address = (int)c->a; p->reg_data = (uint32_t)c->b;
      p->state = (int)c->op;
    }
    dw_pop_command(unit);
    if (p->state == OP_WORK && p->clocks <= 0) end_work(p, unit, now);
  }
}

// One edge of the NIC clock. `edge` is its absolute index, `others` whether anything else on the NIC moves.
int san_processor_clock(int unit, int memory, int clock, long long now, long long edge, int granted, int isr, int register_value, int others) {
  processor *p = &processors[unit];
  dw_step *steps = dw_steps[unit][p->loop];
  int64_t gap = edge - p->last_edge;
  if (gap > 1) { skip(p, steps, gap - 1); p->requested = 0; }
  finish_clock(p, unit, memory, now, granted, (uint32_t)isr, (uint32_t)register_value);
  take_command(p, unit, now);
  p->last_edge = edge;
  p->requested = 0;
  int action = dw_has_command(unit) && !p->state ? ACT_BUSY : 0;
  if (p->state == OP_READ) return action | ACT_REGISTER | ACT_BUSY;
  if (p->state == OP_WRITE) return action | ACT_REGISTER | ACT_WRITE | ACT_BUSY;
  if (!p->state) return action;
  p->requested = is_access(p->clock, p->clocks, p->accesses);
  if (p->requested) action |= ACT_SRAM;
  if (others && p->state == OP_POLL) return action | ACT_BUSY;
  int64_t wait = plan(p, memory, dw_steps[unit][p->loop], (uint32_t)isr);
  if (wait >= 0 && edge + wait != p->planned) { p->planned = edge + wait; san_alarm(clock, p->planned); }
  return action;
}
int san_processor_address(int unit) { return processors[unit].reg_address; }
int san_processor_data(int unit) { return (int)processors[unit].reg_data; }
