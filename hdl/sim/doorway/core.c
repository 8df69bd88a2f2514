// What is kept of a LANai's processor that executes machine code (sim_core.sv): how often each instruction was executed and what
// it waited for, the last instructions, where it stopped with which registers, and in the trace the function that it is in.
//
// While its clock sleeps (sim_core_sleep.sv) it does the same turn over and over. What each clock of the turn does is known, so what was
// missed is counted when the clock wakes, or when somebody looks.
#include <stdlib.h>
#include <string.h>

#include "doorway.h"

enum { EVENT_STOPPED = 24 };                            // a: fault, 0 = at the function asked for; b: pc
enum { TRACE_FUNCTION = 0x24, TRACE_INSTRUCTION = 0x25 };
enum { RETIRED = 8, STALL = 7, USES = 16, FIRST = 0x8000 };   // of `what`, USES: it accesses the SRAM; of a word's function: it is the first
enum { TURN = 256 };                                    // clocks of a turn at most, as in sim_core_sleep.sv
enum { SRAM_OF_CPU = 6 };                               // unit of a node's SRAM less that of its NIC's processor (pymodels/trace.py)
typedef struct {
  int words;                                            // of the program; those behind have no function
  uint16_t *function;                                   // of each word, FIRST with its first
  int64_t *counts;                                      // of each word: DW_CORE_COUNTS numbers
  int in;                                               // the function of the last instruction; -1: none
  int stop;                                             // stop where it enters this function; -1: never
  int every;                                            // each instruction goes into the trace
  uint32_t last[DW_CORE_LAST], registers[32];
  int64_t retired;
  int fault;
  uint32_t pc;
  struct { uint32_t pc; int what; } turn[TURN];         // what each clock of a turn does
  int length, touched;                                  // clocks of it; the SRAM has changed, and no engine has written it
  int64_t began, missed;                                // edge at which a turn began; the first that may be missed, -1: none may
} core;
static core *cores[DW_UNITS];
int dw_cores;                                           // how many there are

// A program for this processor; its counts, all zero, in the order of its words. `functions` is copied.
int64_t *dw_core_program(int unit, int words, const uint16_t *functions, int stop, int every) {
  core *c = cores[unit];
  if (c) { free(c->function); free(c->counts); free(c); }
  else dw_cores++;
  c = cores[unit] = calloc(1, sizeof *c);
  c->words = words;
  c->function = malloc((size_t)words * sizeof *functions);
  memcpy(c->function, functions, (size_t)words * sizeof *functions);
  c->counts = calloc((size_t)words * DW_CORE_COUNTS, sizeof *c->counts);
  c->in = -1;
  c->missed = -1;
  c->stop = stop;
  c->every = every;
  return c->counts;
}
// The addresses of the last instructions, the oldest first; how many they are.
int dw_core_last(int unit, uint32_t *addresses) {
  const core *c = cores[unit];
  const int n = c->retired < DW_CORE_LAST ? (int)c->retired : DW_CORE_LAST;
  for (int i = 0; i < n; i++) addresses[i] = c->last[(c->retired - n + i) % DW_CORE_LAST];
  return n;
}
const uint32_t *dw_core_registers(int unit) { return cores[unit]->registers; }

// The function of an instruction; -1: none.
static int function_at(const core *c, uint32_t pc) { return pc / 4 < (uint32_t)c->words ? c->function[pc / 4] & ~FIRST : -1; }

static void retire(core *c, int unit, int64_t now, uint32_t pc) {
  c->last[c->retired++ % DW_CORE_LAST] = pc;
  if (c->every) san_trace(now, unit, TRACE_INSTRUCTION, 0, (int)pc, 0);
  if (pc / 4 >= (uint32_t)c->words) return;
  c->counts[(int64_t)(pc / 4) * DW_CORE_COUNTS]++;
  const int function = function_at(c, pc), first = c->function[pc / 4] & FIRST;
  if (function == c->in && !first) return;
  san_trace(now, unit, TRACE_FUNCTION, 0, function, first != 0);
  c->in = function;
}

static void count(core *c, int unit, int64_t now, uint32_t pc, int what) {
  if (what & RETIRED) retire(c, unit, now, pc);
  else if (pc / 4 < (uint32_t)c->words) c->counts[(int64_t)(pc / 4) * DW_CORE_COUNTS + (what & STALL)]++;
}
// A clock of the processor has passed. `what`: STALL bits, RETIRED. Returns 1 when it is to tell its registers: it stops.
int san_core_clock(long long now, int unit, int pc, int what, int fault) {
  core *c = cores[unit];
  if (!c) return 0;
  const int stops = fault || ((what & RETIRED) && c->stop >= 0 && c->in != c->stop && function_at(c, (uint32_t)pc) == c->stop);
  if (stops) {
    c->fault = fault;
    c->pc = (uint32_t)pc;
  } else {
    count(c, unit, now, (uint32_t)pc, what);
  }
  return stops;
}
void san_core_register(int unit, int number, int value) { cores[unit]->registers[number] = (uint32_t)value; }
void san_core_stop(long long now, int unit) { san_event(now, unit, EVENT_STOPPED, cores[unit]->fault, cores[unit]->pc); }

// ---------------------------------------------------------------- sleep
// What the clock that ends at this edge does, at this place of a turn.
void san_core_turn(int unit, long long edge, int place, int pc, int what) {
  core *c = cores[unit];
  if (place == 0) c->began = edge;
  c->length = place + 1;
  c->turn[place].pc = (uint32_t)pc;
  c->turn[place].what = what;
}
// From this edge on it may miss edges, doing its turn; -1: none. Returns 0 when it may not: what it reads has changed.
int san_core_sleeps(int unit, long long edge) {
  core *c = cores[unit];
  if (edge >= 0 && c->touched) edge = -1;
  c->touched = 0;
  c->missed = edge;
  return edge >= 0;
}
// Instructions of a turn; 0: the trace tells of it.
static int untold(const core *c) {
  int told = c->every, retired = 0;
  for (int i = 0; i < c->length; i++) {
    const uint32_t word = c->turn[i].pc / 4;
    if (!(c->turn[i].what & RETIRED)) continue;
    retired++;
    told |= word < (uint32_t)c->words && c->function[word] != c->in;
  }
  return told ? 0 : retired;
}
// Whole turns of which the trace does not tell.
static void turns(core *c, int64_t times) {
  for (int i = 0; i < c->length; i++) {
    const uint32_t word = c->turn[i].pc / 4;
    const int what = c->turn[i].what;
    if (what & RETIRED) c->retired += times;
    if (word < (uint32_t)c->words) c->counts[(int64_t)word * DW_CORE_COUNTS + (what & RETIRED ? 0 : what & STALL)] += times;
  }
  c->missed += times * c->length;
}
// How the SRAM was used in some clocks of a turn, `times` times.
static void uses(const core *c, int unit, int64_t from, int64_t clocks, int64_t times) {
  dw_use used[TURN];
  int count = 0;
  for (int64_t edge = from; edge < from + clocks; edge++) {
    if (c->turn[(edge - c->began) % c->length].what & USES) used[count++] = (dw_use){edge - c->length, unit, 1, 0};
  }
  dw_use_turns(used, count, c->length, times);
}
// The clocks before edge `to` that were missed. Those whose instructions are the last ones are counted one by one.
static void catch_up(core *c, int unit, int64_t to) {
  const int64_t whole = (to - c->missed) / c->length, rest = c->missed + whole * c->length;
  const int retired = untold(c);
  uses(c, unit + SRAM_OF_CPU, c->missed, c->length, whole);
  uses(c, unit + SRAM_OF_CPU, rest, to - rest, 1);
  const int64_t most = retired ? whole - (DW_CORE_LAST + retired - 1) / retired : 0;
  if (most > 0) turns(c, most);
  for (; c->missed < to; c->missed++) {
    const int place = (int)((c->missed - c->began) % c->length);
    count(c, unit, c->missed * dw_unit_period(unit), c->turn[place].pc, c->turn[place].what);
  }
}
// Its clock wakes for this edge. Returns the place of the clock that ends there in the turn; -1: it has missed none.
int san_core_wakes(int unit, long long edge) {
  core *c = cores[unit];
  if (c->missed < 0 || c->missed >= edge) return -1;
  catch_up(c, unit, edge);
  return (int)((edge - c->began) % c->length);
}
// What is kept of all processors is of the whole time until now.
void dw_cores_whole(int64_t now) {
  for (int unit = 0; dw_cores && unit < DW_UNITS; unit++) {
    if (cores[unit] && cores[unit]->missed >= 0) catch_up(cores[unit], unit, now / dw_unit_period(unit) + 1);
  }
}
// The SRAM of this processor has changed, and no engine has written it.
void dw_core_touch(int unit) { if (cores[unit]) cores[unit]->touched = 1; }
