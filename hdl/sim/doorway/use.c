// Utilisation of resources, in windows of their clock (sim_use).
//
// The record of a window has the time of its end; it is appended when a later window is used, or when the trace is
// read.
#include "doorway.h"

typedef struct { int event, clock, log2, open; int64_t index; uint32_t used, also; } window;
static window windows[DW_UNITS];
static dw_use recent[DW_USES];   // the last uses of all resources
uint64_t dw_use_count;           // uses so far

static void end_window(int unit) {
  window *w = &windows[unit];
  san_trace(((w->index + 1) << w->log2) * dw_period(w->clock), unit, w->event, 0, (int)w->used, w->also);
  w->open = 0;
}
// Add uses of a resource to its window.
static void add(int unit, int64_t index, uint32_t used, uint32_t also) {
  window *w = &windows[unit];
  if (w->open && w->index != index) end_window(unit);
  if (!w->open) { w->open = 1; w->index = index; w->used = w->also = 0; }
  w->used += used;
  w->also += also;
}
void san_use(long long now, int unit, int event, int clock, int log2, int used, int also) {
  window *w = &windows[unit];
  w->event = event; w->clock = clock; w->log2 = log2;
  const int64_t edge = now / dw_period(clock);
  recent[dw_use_count++ % DW_USES] = (dw_use){edge, unit, (uint32_t)used, (uint32_t)also};
  add(unit, edge >> log2, (uint32_t)used, (uint32_t)also);
}
int dw_use_event(int unit) { return windows[unit].event; }
dw_use dw_use_of(uint64_t number) { return recent[number % DW_USES]; }
// Append the records of the windows that have ended to the trace.
void dw_use_over(int64_t now) {
  for (int unit = 0; unit < DW_UNITS; unit++) {
    const window *w = &windows[unit];
    if (w->open && ((w->index + 1) << w->log2) * dw_period(w->clock) <= now) end_window(unit);
  }
}

static int64_t up(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }
// Return how many of the edges that lie 1 to `times` steps after `edge` are in [from, to).
static int64_t within(int64_t edge, int64_t step, int64_t times, int64_t from, int64_t to) {
  const int64_t first = up(from - edge, step), behind = up(to - edge, step);
  return (behind > times ? times + 1 : behind) - (first < 1 ? 1 : first);
}
// Repeat these uses of one resource, in order and all within `step` edges, `times` times, each time `step` edges later.
void dw_use_turns(const dw_use *uses, int count, int64_t step, int64_t times) {
  if (!count || times <= 0) return;
  const int unit = uses->unit, log2 = windows[unit].log2;
  for (int64_t index = (uses->edge + step) >> log2; index <= (uses[count - 1].edge + times * step) >> log2; index++) {
    uint32_t used = 0, also = 0;
    for (const dw_use *u = uses; u < uses + count; u++) {
      const int64_t turns = within(u->edge, step, times, index << log2, (index + 1) << log2);
      if (turns <= 0) continue;
      used += (uint32_t)turns * u->used;
      also += (uint32_t)turns * u->also;
    }
    if (used || also) add(unit, index, used, also);
  }
}
// Repeat the uses of a resource since number `from`, all in the last `period`, `times` times.
void dw_use_again(int unit, uint64_t from, int64_t period, int64_t times) {
  static dw_use uses[DW_USES];
  int count = 0;
  for (uint64_t i = from; i < dw_use_count; i++) {
    if (dw_use_of(i).unit == unit) uses[count++] = dw_use_of(i);
  }
  dw_use_turns(uses, count, period / dw_period(windows[unit].clock), times);
}
