// Records of a LANai's processor that executes machine code (sim_core.sv): executions and stalls of each instruction,
// the last instructions, the address and registers where it stopped, and in the trace the current function.
//
// While its clock sleeps (sim_core_sleep.sv) it repeats one turn. The action of each clock of the turn is known, so the
// skipped clocks are accounted for when the clock wakes, or when the records are read.
#include <stdlib.h>
#include <string.h>

#include "doorway.h"

enum { EVENT_STOPPED = 24 };                            // a: fault, 0 = stopped at the requested function; b: pc
enum { TRACE_FUNCTION = 0x24, TRACE_INSTRUCTION = 0x25 };
enum { RETIRED = 8, STALL = 7, USES = 16, FIRST = 0x8000 };   // of `what`, USES: it accesses the SRAM; of a word's function: it is the first
enum { TURN = 256 };                                    // clocks of a turn at most, as in sim_core_sleep.sv
enum { SRAM_OF_CPU = 6 };                               // unit of a node's SRAM less that of its NIC's processor (pymodels/trace.py)
typedef struct {
  int words;                                            // words of the program; later words belong to no function
  uint16_t *function;                                   // function of each word; FIRST marks its first word
  int64_t *counts;                                      // DW_CORE_COUNTS numbers per word
  int in;                                               // the function of the last instruction; -1: none
  int stop;                                             // stop at entry of this function; -1: never
  int every;                                            // each instruction goes into the trace
  uint32_t last[DW_CORE_LAST], registers[32];
  int64_t retired;
  int fault;
  uint32_t pc;
  struct { uint32_t pc; int what; } turn[TURN];         // action of each clock of a turn
  int length, touched;  // clocks of the turn; the SRAM was changed, but not by an engine
  int64_t began, missed;  // edge at which a turn began; first edge that may be skipped, -1: none
} core;
static core *cores[DW_UNITS];
int dw_cores;                                           // number of buffers in the pool

// Set the program of this processor and return its counts, all zero, in the order of its words. `functions` is copied.
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
// Store the addresses of the last instructions, oldest first, and return their number.
int dw_core_last(int unit, uint32_t *addresses) {
  const core *c = cores[unit];
  const int n = c->retired < DW_CORE_LAST ? (int)c->retired : DW_CORE_LAST;
  for (int i = 0; i < n; i++) addresses[i] = c->last[(c->retired - n + i) % DW_CORE_LAST];
  return n;
}
const uint32_t *dw_core_registers(int unit) { return cores[unit]->registers; }

// Return the function of an instruction, or -1.
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
// Account for one clock of the processor. `what`: STALL bits, RETIRED. Returns 1 if the processor stops and must supply
// its registers.
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
// From this edge on the processor repeats its turn and may skip edges; -1: it may not. Returns 0 if its input has
// changed, so that it may not sleep.
int san_core_sleeps(int unit, long long edge) {
  core *c = cores[unit];
  if (edge >= 0 && c->touched) edge = -1;
  c->touched = 0;
  c->missed = edge;
  return edge >= 0;
}
// Return the number of instructions of a turn, or 0 if the trace contains each of them.
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
// Account for whole turns without trace records.
static void turns(core *c, int64_t times) {
  for (int i = 0; i < c->length; i++) {
    const uint32_t word = c->turn[i].pc / 4;
    const int what = c->turn[i].what;
    if (what & RETIRED) c->retired += times;
    if (word < (uint32_t)c->words) c->counts[(int64_t)word * DW_CORE_COUNTS + (what & RETIRED ? 0 : what & STALL)] += times;
  }
  c->missed += times * c->length;
}
// Record the SRAM uses of some clocks of a turn, `times` times.
static void uses(const core *c, int unit, int64_t from, int64_t clocks, int64_t times) {
  dw_use used[TURN];
  int count = 0;
  for (int64_t edge = from; edge < from + clocks; edge++) {
    if (c->turn[(edge - c->began) % c->length].what & USES) used[count++] = (dw_use){edge - c->length, unit, 1, 0};
  }
  dw_use_turns(used, count, c->length, times);
}
// Account for the skipped clocks before edge `to`. The clocks of the last instructions are counted one by one.
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
// The processor's clock wakes for this edge. Returns the position in the turn of the clock that ends there, or -1 if
// none was skipped.
int san_core_wakes(int unit, long long edge) {
  core *c = cores[unit];
  if (c->missed < 0 || c->missed >= edge) return -1;
  catch_up(c, unit, edge);
  return (int)((edge - c->began) % c->length);
}
// Complete the records of all processors up to now.
void dw_cores_whole(int64_t now) {
  for (int unit = 0; dw_cores && unit < DW_UNITS; unit++) {
    if (cores[unit] && cores[unit]->missed >= 0) catch_up(cores[unit], unit, now / dw_unit_period(unit) + 1);
  }
}
// The SRAM of this processor was changed, but not by an engine.
void dw_core_touch(int unit) { if (cores[unit]) cores[unit]->touched = 1; }
