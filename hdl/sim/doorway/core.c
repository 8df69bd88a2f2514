// What is kept of a LANai's processor that executes machine code (sim_core.sv): how often each instruction was executed and what
// it waited for, the last instructions, where it stopped with which registers, and in the trace the function that it is in.
#include <stdlib.h>
#include <string.h>

#include "doorway.h"

enum { EVENT_STOPPED = 24 };                            // a: fault, 0 = at the function asked for; b: pc
enum { TRACE_FUNCTION = 0x24, TRACE_INSTRUCTION = 0x25 };
enum { RETIRED = 8, STALL = 7, FIRST = 0x8000 };        // of `what`; of a word's function: it is the first word
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
} core;
static core *cores[DW_UNITS];

// A program for this processor; its counts, all zero, in the order of its words. `functions` is copied.
int64_t *dw_core_program(int unit, int words, const uint16_t *functions, int stop, int every) {
  core *c = cores[unit];
  if (c) { free(c->function); free(c->counts); free(c); }
  c = cores[unit] = calloc(1, sizeof *c);
  c->words = words;
  c->function = malloc((size_t)words * sizeof *functions);
  memcpy(c->function, functions, (size_t)words * sizeof *functions);
  c->counts = calloc((size_t)words * DW_CORE_COUNTS, sizeof *c->counts);
  c->in = -1;
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

// A clock of the processor has passed. `what`: STALL bits, RETIRED. Returns 1 when it is to tell its registers: it stops.
int san_core_clock(long long now, int unit, int pc, int what, int fault) {
  core *c = cores[unit];
  if (!c) return 0;
  const int stops = fault || ((what & RETIRED) && c->stop >= 0 && c->in != c->stop && function_at(c, (uint32_t)pc) == c->stop);
  if (stops) {
    c->fault = fault;
    c->pc = (uint32_t)pc;
  } else if (what & RETIRED) {
    retire(c, unit, now, (uint32_t)pc);
  } else if ((uint32_t)pc / 4 < (uint32_t)c->words) {
    c->counts[(int64_t)((uint32_t)pc / 4) * DW_CORE_COUNTS + (what & STALL)]++;
  }
  return stops;
}
void san_core_register(int unit, int number, int value) { cores[unit]->registers[number] = (uint32_t)value; }
void san_core_stop(long long now, int unit) { san_event(now, unit, EVENT_STOPPED, cores[unit]->fault, cores[unit]->pc); }
