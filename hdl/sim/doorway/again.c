// Turns of a polling loop that are computed instead of executed: they leave the same records as the turns before.
//
// The records are kept as those of one turn and a number of repetitions until the trace is read.
#include <stdlib.h>
#include <string.h>

#include "doorway.h"

typedef struct { dw_trace *records; uint64_t count; int64_t period, times; } stretch;
static stretch *stretches;
static uint64_t stretch_count, stretch_room;

static void keep(uint64_t from, int64_t period, int64_t times) {
  if (stretch_count == stretch_room) {
    stretch_room = stretch_room ? 2 * stretch_room : 64;
    stretches = realloc(stretches, stretch_room * sizeof *stretches);
  }
  stretch *s = &stretches[stretch_count++];
  *s = (stretch){malloc((dw_trace_count - from) * sizeof *s->records), 0, period, times};
  for (uint64_t i = from; i < dw_trace_count; i++) {
    const dw_trace r = dw_trace_record(i);
    if (r.event != dw_use_event((int)r.unit)) s->records[s->count++] = r;   // windows are counted by themselves
  }
}
// Repeat everything recorded in the last `period`, the trace's records from `records` on and the uses from `uses` on,
// `times` times from now on. Returns 0 if the records are no longer kept, or if a polling processor has met an access
// or a change since `met`, so that its loop is in another state.
int dw_again(uint64_t records, uint64_t uses, uint64_t met, int64_t period, int64_t times) {
  if (dw_use_count - uses > DW_USES || dw_met_count != met) return 0;
  if (dw_trace_on && dw_trace_count > records) keep(records, period, times);
  for (uint64_t i = uses; i < dw_use_count; i++) {
    const int unit = dw_use_of(i).unit;
    uint64_t first = uses;
    while (dw_use_of(first).unit != unit) first++;
    if (first == i) dw_use_again(unit, uses, period, times);
  }
  return 1;
}
// Complete the trace up to now.
void dw_trace_whole(int64_t now) {
  dw_cores_whole(now);
  dw_use_over(now);
  const int on = dw_trace_on;
  dw_trace_on = 1;
  for (stretch *s = stretches; s < stretches + stretch_count; s++) {
    for (int64_t k = 1; k <= s->times; k++) {
      for (const dw_trace *r = s->records; r < s->records + s->count; r++) {
        dw_trace_message(r->time + k * s->period, (int)r->unit, r->event, (int)r->packet, (int)r->argument, r->argument2, r->message);
      }
    }
    free(s->records);
  }
  stretch_count = 0;
  dw_trace_on = on;
}
