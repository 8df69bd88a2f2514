// Supply of the cards in the slots of a host's bus (sim_slot_power.sv), by absolute time.
#include "doorway.h"

enum { SLOTS = 4 };
typedef struct { int64_t from; int off, before; } supply;   // `before`: state at the edges up to `from`
static supply supplies[DW_UNITS][SLOTS];

// During Python's turn: the slot has no supply (1), or has it again (0), from the next edge of its clock on. `unit`: that
// of the host's CPU, whose clock is the clock of the slot.
void dw_power(int unit, int slot, int off) {
  supply *s = &supplies[unit][slot];
  *s = (supply){dw_turn[0], off, dw_turn[0] > s->from ? s->off : s->before};
  dw_faults = 1;
  dw_faults_on();
  dw_kick(unit);
}
// Return 1 if the slot has no supply at this edge.
int san_power(long long now, int unit, int slot) {
  const supply *s = &supplies[unit][slot];
  return now > s->from ? s->off : s->before;
}
