// Faults on cables, by absolute time: what happens to the character that leaves the cable in a given character slot.
//
// A fault replaces, drops or flips characters in a half-open interval of slots. The cable's clock is kept awake for it.
#include "doorway.h"

enum { FAULT_DROP = 1, FAULT_FLIP = 2, FAULT_STICK = 3 };
typedef struct { int64_t first, end; int kind, value; } fault;
static fault faults[DW_CLOCKS * 2][DW_FAULTS];
static int fault_count[DW_CLOCKS * 2];
int dw_faults;   // 1 once any cable has a fault: the cluster's `faults` input

// Returns -1 when the cable has no room for another fault.
int dw_fault_add(int cable, int clock, int64_t first, int64_t end, int kind, int value) {
  if (fault_count[cable] == DW_FAULTS) return -1;
  faults[cable][fault_count[cable]++] = (fault){first, end, kind, value};
  dw_faults = 1;
  dw_faults_on();
  for (int64_t slot = first; slot < end && slot < first + 2; slot++) san_alarm(clock, slot);
  return 0;
}
// The nine-bit character after faults: bit 8 = data flag. DROP makes it IDLE, FLIP xors, STICK holds the value. Bit 9: what the
// sender really says in this slot is lost, a computed STOP refresh too.
int san_fault(int cable, long long slot, int character) {
  for (int i = 0; i < fault_count[cable]; i++) {
    const fault *f = &faults[cable][i];
    if (slot < f->first || slot >= f->end) continue;
    if (f->kind == FAULT_DROP) character = 0x200;
    else if (f->kind == FAULT_FLIP) character ^= f->value;
    else character = f->value | 0x200;
  }
  return character;
}
