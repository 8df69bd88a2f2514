// LANai processor as its memory and registers see it: a stream of clocks, some of which need one SRAM access.
//
// Called at edges of the NIC clock. Returns the next edge at which it acts; calls before that edge may be left out
// (except for new commands and `changed`) or have no effect. Commands: WORK executes a number of clocks, POLL spins
// over steps that each sample a word at their end, READ and WRITE access a special register. All except WRITE and a
// quiet WORK end with an event, in the order of the commands; its `a` is the step that hit or the value read. A command
// after a quiet WORK counts from the end of that WORK, as if Python had been notified then and had issued it.
// A TRACE appends the record that Python would have appended then; a TELL is the event that the quiet WORK has not
// sent. A hit of a step that reads is reported once the register has been read again, as if Python had requested it
// immediately; a step with answers, once the first part of the answer is done. A STORE changes memory when a TRACE would
// append its record. An access that the arbiter rejects repeats its clock: the processor loses to DMA. The end is
// computed instead of ticked, and only that edge is requested; the end of a poll is recomputed when a polled word may
// have changed. A skipped edge counts as an uncontended clock, so the result is the same with the clock always on.
#include <stdlib.h>
#include <string.h>

#include "doorway.h"

enum { OP_NONE = 0, OP_WORK = 1, OP_POLL = 2, OP_READ = 3, OP_WRITE = 4, OP_TRACE = 5, OP_TELL = 6, OP_STORE = 7 };
enum { HIT_READS = 1, HIT_ANSWERS = 2 };
enum { EVENT_WORK = 16, EVENT_HIT = 17, EVENT_VALUE = 18 };
enum { ACT_SRAM = 1, ACT_REGISTER = 2, ACT_WRITE = 4, ACT_BUSY = 8, ACT_POLL = 16, ACT_RUN = 32, ACT_BITS = 8 };
// Flags. GRANT: the clock that ended had room for an access or, with ASKING, the requested one was granted. CHANGE:
// memory or ISR may have changed since the last call. ASKING: an access must be requested one clock ahead (otherwise
// the arbiter reports whether one is possible).
enum { SEES_GRANT = 1, SEES_CHANGE = 2, SEES_ASKING = 4 };
static const int64_t NEVER = (1ll << 48) - 1;   // the last edge there is
enum { TRACE_WORK_START = 0x20, TRACE_WORK_END = 0x21 };

typedef struct {
  int state;                       // OP_* in progress, 0 = idle
  int64_t clock, clocks, accesses; // within the work or the present step
  int64_t tag;                     // path number for the trace
  int quiet;                       // work whose end Python does not await
  int64_t last_edge, due, planned; // edges: last call; next call with an effect; last alarm set
  int64_t end;                     // edge at which work ends, or a poll hits as last computed; -1: never
  int stale;                       // the end of a poll must be recomputed
  int touched;                     // memory was changed, but not by an engine
  int loop, step, steps;
  int hit;                         // a poll has hit; its register is to be read again, or its answer has begun
  int64_t hit_at;
  int own_at, own_end;             // commands of an answer that are left
  int asks;                        // requests its accesses one clock ahead
  int requested;                   // an SRAM access was made in the clock that just ended, or is requested in the next
  int reg_address;
  uint32_t reg_data;
} processor;
static processor processors[DW_UNITS];
uint64_t dw_met_count;              // number of accesses or changes during polling
static dw_command own[DW_UNITS][DW_ANSWERS + 4];
uint32_t dw_hit_value[DW_UNITS][3]; // last hit with answers: register, started answer, values read
dw_answer dw_answers[DW_UNITS][DW_ANSWERS];
static dw_step (*polled[DW_UNITS])[DW_STEPS];   // by loop, for units with polling loops

// Return the steps of a unit's loops, or NULL if there is no room.
dw_step (*dw_steps(int unit))[DW_STEPS] {
  if (!polled[unit]) polled[unit] = calloc(DW_LOOPS, sizeof *polled[unit]);
  return polled[unit];
}

// Return true if clock j of a run of n clocks with m accesses makes an access. Accesses are evenly spaced and include
// the last clock.
static int is_access(int64_t j, int64_t n, int64_t m) { return (j + 1) * m / n > j * m / n; }

// Return the first clock from j on that makes an access, or n.
static int64_t next_access(int64_t j, int64_t n, int64_t m) { return m ? ((j * m / n + 1) * n + m - 1) / m - 1 : n; }

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

// Account for clocks that passed while the NIC slept: without contention and without a hit (otherwise the edge would
// have been planned).
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

// Return the number of clocks of a poll from now to the edge at which it hits, or -1 if it does not hit with the
// current values.
static int64_t until_hit(const processor *p, int memory, const dw_step *steps, uint32_t isr) {
  int64_t n = p->clocks - p->clock;
  for (int i = 0; i < p->steps; i++) {
    int step = (p->step + i) % p->steps;
    if (hits(memory, &steps[step], isr)) return n;
    n += steps[(step + 1) % p->steps].clocks;
  }
  return -1;
}

// Commands of an answer precede those of Python.
static int has_own(const processor *p) { return p->own_at != p->own_end; }
static dw_command *next_of(processor *p, int unit, int64_t now) {
  dw_command *c = &own[unit][p->own_at];
  if (!has_own(p)) return p->hit ? NULL : dw_next_command(unit, now);
  return c->time < now ? c : NULL;
}
static int has_next(const processor *p, int unit) { return has_own(p) || p->hit || dw_has_command(unit); }
// A command of an answer has ended: the next one counts from now; after the last one the hit is reported to Python.
static void go_on(processor *p, int unit, int64_t now) {
  const int tells = !has_own(p) || own[unit][p->own_at].op == OP_TELL;
  if (tells && has_own(p)) p->own_at++;
  if (has_own(p)) own[unit][p->own_at].time = now;
  if (!tells) return;
  p->hit = 0;
  san_event(now, unit, EVENT_HIT, p->step, 0);
}
static void append(processor *p, int unit, dw_command c) { own[unit][p->own_end++] = c; }
static void append_path(processor *p, int unit, const int32_t *path) {
  append(p, unit, (dw_command){.op = OP_WORK, .a = path[0], .b = path[1], .c = path[2]});
}
// Begin the first answer with a set bit. Python continues after it, or immediately if it only writes a register.
static void answer(processor *p, int unit, int64_t now, const dw_step *s, uint32_t flags) {
  const int count = s->is_register >> STEP_ANSWERS & 0xFF;
  const dw_answer *a = dw_answers[unit] + (s->is_register >> STEP_FIRST);
  int which = 0;
  p->own_at = p->own_end = 0;
  for (; which < count && !(flags & (uint32_t)a->mask); which++, a++) append_path(p, unit, a->passed);
  dw_hit_value[unit][0] = flags;
  dw_hit_value[unit][1] = (uint32_t)which;
  dw_hit_value[unit][2] = 0;
  if (which == count || (!a->runs && a->reads < 0)) append(p, unit, (dw_command){.op = OP_TELL});
  if (which < count && a->clears) append(p, unit, (dw_command){.op = OP_WRITE, .a = s->address, .b = (uint32_t)a->clears});
  if (which < count && a->runs) append_path(p, unit, a->path);
  if (which < count && a->reads >= 0) append(p, unit, (dw_command){.op = OP_READ, .a = a->reads});
  p->hit = HIT_ANSWERS;
  if (own[unit][0].op == OP_TELL) go_on(p, unit, now);
  else own[unit][0].time = now;
}

// A quiet end sends no event. The next command, and the records, are treated as if Python had been woken and had given
// them.
static void end_work(processor *p, int unit, int memory, int64_t now) {
  p->state = 0;
  if (p->hit) { go_on(p, unit, now); return; }
  if (!p->quiet) { san_event(now, unit, EVENT_WORK, 0, 0); return; }
  dw_given_now(unit, now);
  dw_command *c;
  for (int i = 0; (c = dw_command_behind(unit, i)) && (c->op == OP_NONE || c->op >= OP_WRITE); i++) {
    if (c->op == OP_TRACE)   // the number of the message: 31 bits in b, further 15 in a
      dw_trace_message(now | 1, unit, (int)c->a & 0xFFFF, (int)c->b, (int)(c->a >> 16), c->c, (uint64_t)c->a >> 48 << 31 | (uint64_t)c->b >> 32);
    if (c->op == OP_STORE) dw_store_late(memory, c, now);
    if (c->op == OP_TELL) san_event(now, unit, EVENT_WORK, 0, 0);
    if (c->op != OP_WRITE) c->op = OP_NONE;
  }
}
// A poll has hit. One that reads or answers continues with that, as if Python had been woken and had given the
// commands.
static void hit(processor *p, int unit, int64_t now, const dw_step *s, uint32_t isr) {
  p->state = 0;
  p->hit = s->is_register & STEP_READS ? HIT_READS : 0;
  p->hit_at = now;
  if (p->hit) return;
  if (s->is_register >> STEP_ANSWERS) answer(p, unit, now, s, isr);
  else san_event(now, unit, EVENT_HIT, p->step, 0);
}

static void finish_clock(processor *p, int unit, int memory, int64_t now, int granted, uint32_t isr, uint32_t register_value) {
  dw_step *steps = polled[unit][p->loop];
  if (p->state == OP_READ) {
    if (dw_strikes) register_value ^= (uint32_t)dw_struck(STRIKE_REGISTER_READ, unit, now);
    p->state = 0;
    if (p->hit == HIT_READS) answer(p, unit, now, &steps[p->step], register_value);
    else if (p->hit) {
      dw_hit_value[unit][2] = register_value;
      go_on(p, unit, now);
    } else san_event(now, unit, EVENT_VALUE, register_value, 0);
  } else if (p->state == OP_WRITE) {
    p->state = 0;
  } else if (p->state && !(p->requested && !granted)) {
    p->clock++;
    if (p->clock < p->clocks) return;
    if (p->state == OP_WORK) {
      san_trace(now, unit, TRACE_WORK_END, 0, (int)p->tag, p->clocks);
      end_work(p, unit, memory, now);
    } else if (hits(memory, &steps[p->step], isr)) {
      hit(p, unit, now, &steps[p->step], isr);
    } else {
      enter_step(p, steps, (p->step + 1) % p->steps);
    }
  }
}

// One command ends at the edge at which the next begins; starting one costs no clock of its own.
static void take_command(processor *p, int unit, int memory, int64_t now) {
  dw_command *c;
  if (p->hit == HIT_READS && !p->state && p->hit_at < now) {
    p->reg_address = polled[unit][p->loop][p->step].address;
    p->state = OP_READ;
  }
  while (!p->state && (c = next_of(p, unit, now))) {
    if (c->op == OP_WORK) {
      p->clocks = c->a; p->accesses = c->b; p->tag = (int32_t)c->c; p->quiet = (int)(c->c >> 32); p->clock = 0;
      p->state = OP_WORK;
      san_trace(now, unit, TRACE_WORK_START, 0, (int)p->tag, p->clocks);
    } else if (c->op == OP_POLL) {
      p->loop = (int)c->a; p->steps = (int)c->b;
      enter_step(p, polled[unit][p->loop], (int)c->c);
      p->state = OP_POLL;
      p->stale = 1;
    } else if (c->op == OP_READ || c->op == OP_WRITE) {
      p->reg_address = (int)c->a; p->reg_data = (uint32_t)c->b;
      p->state = (int)c->op;
      if (dw_strikes && p->state == OP_WRITE) p->reg_data ^= (uint32_t)dw_struck(STRIKE_REGISTER_WRITE, unit, now);
    }
    if (has_own(p)) p->own_at++;
    else dw_pop_command(unit);
    if (p->state == OP_WORK && p->clocks <= 0) end_work(p, unit, memory, now);
  }
}

// Return the action of the processor in the coming clock, and the edge of the next call.
static int act(processor *p, int unit, int memory, int64_t edge, int asks, uint32_t isr) {
  const int waiting = has_next(p, unit) && !p->state ? ACT_BUSY : 0;
  p->due = edge + 1;
  if (p->state == OP_READ) return ACT_REGISTER | ACT_BUSY;
  if (p->state == OP_WRITE) return ACT_REGISTER | ACT_WRITE | ACT_BUSY;
  if (!p->state) {
    if (!waiting) p->due = NEVER;
    return waiting;
  }
  if (p->state == OP_WORK) p->end = edge + p->clocks - p->clock;
  else if (p->stale) {
    const int64_t wait = until_hit(p, memory, polled[unit][p->loop], isr);
    p->end = wait < 0 ? -1 : edge + wait;
    p->stale = 0;
  }
  const int action = ACT_RUN | (p->state == OP_POLL ? ACT_POLL : 0);
  p->due = p->end < 0 ? NEVER : p->end;
  if (!asks) return action;
  const int64_t access = next_access(p->clock, p->clocks, p->accesses), ahead = (access < p->clocks ? access : p->clocks) - p->clock;
  p->requested = access == p->clock;
  p->due = edge + (p->requested ? 1 : ahead);
  return action | (p->requested ? ACT_SRAM : 0);
}

// One edge of the NIC clock. `edge` is its absolute index, `flags` are SEES_*. Returns ACT_*, and in the higher bits
// the edge of the next call.
long long san_processor_clock(int unit, int memory, int clock, long long now, long long edge, int flags, int isr, int register_value) {
  processor *p = &processors[unit];
  const int granted = flags & SEES_GRANT, changed = (flags & SEES_CHANGE) || p->touched, asks = flags & SEES_ASKING;
  const int polling = p->state == OP_POLL, running = polling || p->state == OP_WORK;
  const int wanted = edge >= p->due || (changed && polling) || (!asks && !granted && running) || (!p->state && has_next(p, unit));
  if (!wanted) return p->due << ACT_BITS | (running ? ACT_RUN : 0) | (polling ? ACT_POLL : 0);
  p->asks = asks;
  p->touched = 0;
  dw_met_count += polling;
  const int64_t gap = edge - p->last_edge;
  if (gap > 1) { skip(p, polled[unit][p->loop], gap - 1); p->requested = 0; }
  if (!asks) p->requested = running && is_access(p->clock, p->clocks, p->accesses);
  if (changed || (p->requested && !granted)) p->stale = 1;
  finish_clock(p, unit, memory, now, granted, (uint32_t)isr, (uint32_t)register_value);
  take_command(p, unit, memory, now);
  p->last_edge = edge;
  p->requested = 0;
  const int action = act(p, unit, memory, edge, asks, (uint32_t)isr);
  if (action & ACT_RUN && p->end >= 0 && p->end != p->planned) {
    p->planned = p->end;
    san_alarm(clock, p->planned);
  }
  return p->due << ACT_BITS | action;
}
// A fault has changed the SRAM of this processor: its polled words are sampled again at its next edge.
void dw_touch(int unit) {
  processors[unit].touched = 1;
  dw_core_touch(unit);
  dw_kick(unit);
}
// Return true if no end of the current command is in sight and the arbiter grants its accesses: the processor is idle,
// or polls unchanged words.
int dw_processor_quiet(int unit) {
  const processor *p = &processors[unit];
  return (!p->state && !p->hit && !has_own(p)) || (p->state == OP_POLL && p->end < 0 && !p->asks);
}
int san_processor_address(int unit) { return processors[unit].reg_address; }
int san_processor_data(int unit) { return (int)processors[unit].reg_data; }
