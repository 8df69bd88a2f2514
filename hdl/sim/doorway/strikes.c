// Faults within a node, by absolute time: the first action of a kind from a given time on is flipped or lost.
//
// The actions and their order are the same with clocks asleep and always on, so a fault strikes the same action in both
// cases.
#include "doorway.h"

enum { MOST = 64 };
enum { EVENT_FAULT = 0x140 };   // pymodels/trace.py
typedef struct { int64_t from; int kind, place; uint64_t value; } strike;
static strike strikes[MOST];
int dw_strikes;   // pending

// `place`: a memory for STRIKE_READ and STRIKE_WRITE, otherwise a unit. `value`: the flipped bits. Returns -1 if there
// is no room.
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
