// Faults within a node, by absolute time: the first thing of a kind from a time on that passes here is flipped or lost.
//
// What passes is the same, in the same order, with clocks asleep and always on, so the same fault strikes the same thing.
#include "doorway.h"

enum { MOST = 64 };
enum { EVENT_FAULT = 0x140 };   // pymodels/trace.py
typedef struct { int64_t from; int kind, place; uint64_t value; } strike;
static strike strikes[MOST];
int dw_strikes;   // that are still to come

// `place`: a memory for STRIKE_READ and STRIKE_WRITE, else a unit. `value`: the bits that are flipped. Returns -1 when there is no room.
int dw_strike_add(int kind, int place, int64_t from, uint64_t value) {
  if (dw_strikes == MOST) return -1;
  strikes[dw_strikes++] = (strike){from, kind, place, value};
  return 0;
}
uint64_t dw_struck(int kind, int place, int64_t now) {
  for (int i = 0; i < dw_strikes; i++) {
    const strike s = strikes[i];
    if (s.kind != kind || s.place != place || now < s.from) continue;
    strikes[i] = strikes[--dw_strikes];
    san_trace(now, kind <= STRIKE_WRITE ? dw_memory_unit(place) : place, EVENT_FAULT, 0, STRIKE_TRACED + kind, (int64_t)s.value);
    return s.value;
  }
  return 0;
}
