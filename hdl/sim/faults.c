// Faults on cables, by absolute time: what happens to the character that leaves the cable in a given character slot.
//
// A fault replaces, drops or flips characters in a half-open interval of slots. The cable's clock is kept awake for it.
#include "doorway.h"

enum { FAULT_DROP = 1, FAULT_FLIP = 2, FAULT_STICK = 3 };
enum { CABLE_UNITS = 0x20000, EVENT_FAULT = 0x140 };   // pymodels/trace.py
typedef struct { int64_t first, end; int kind, value; } fault;
static fault faults[DW_CABLES][DW_FAULTS];
static int fault_count[DW_CABLES];
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

// Random loss: a packet that enters a cable is lost whole, or has one bit flipped, by probability, seed and its number on that
// cable. STOP, GO and BEAT among its characters belong to the other direction and pass.
typedef struct {
  uint64_t seed, packets;
  uint32_t lost_below, damaged_below;   // of 2^32
  int64_t period;
  int inside, fate, byte, at, mask;     // of the packet that passes now
} lottery;
static lottery lotteries[DW_CABLES];
int64_t dw_loss_count[3];   // by kind of fault
enum { FLAG = 0x100, GAP = 0x00c, KEEP_HOLD = 0x400, FEWEST_BYTES = 9, MANY_BYTES = 512 };

void dw_loss(int cable, int clock, double lost, double damaged, uint64_t seed) {
  lotteries[cable] = (lottery){.seed = seed, .lost_below = (uint32_t)(lost * 4294967295.0),
                               .damaged_below = (uint32_t)((lost + damaged) * 4294967295.0), .period = dw_period(clock)};
  dw_faults = 1;
  dw_faults_on();
}
static uint64_t splitmix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
static void draw(lottery *l, int cable) {
  uint64_t luck = splitmix(l->seed ^ splitmix((uint64_t)cable << 40 ^ l->packets++)), more = splitmix(luck);
  uint32_t number = (uint32_t)luck;
  l->inside = 1;
  l->at = 0;
  l->fate = number < l->lost_below ? FAULT_DROP : number < l->damaged_below ? FAULT_FLIP : 0;
  l->byte = (int)(more >> 8 & 0xffff) % (more & 1 ? FEWEST_BYTES : MANY_BYTES);
  l->mask = 1 << (more >> 1 & 7);
}
static int lose(int cable, int64_t slot, int character) {
  lottery *l = &lotteries[cable];
  int data = character & FLAG, hit = 0, changed = character;
  if (data && !l->inside) draw(l, cable);
  if (!l->inside || !l->fate || !(data || character == GAP)) {
    if (character == GAP) l->inside = 0;
    return character;
  }
  if (l->fate == FAULT_DROP) {
    changed = KEEP_HOLD;
    hit = l->at == 0;
  } else if (data && l->at == l->byte) {
    changed = character ^ l->mask | KEEP_HOLD;
    hit = 1;
  }
  if (hit) {
    dw_loss_count[l->fate]++;
    san_trace(slot * l->period, CABLE_UNITS + cable, EVENT_FAULT, 0, l->fate, (long long)l->packets - 1);
  }
  l->at++;
  if (character == GAP) l->inside = 0;
  return changed;
}

// The nine-bit character after faults: bit 8 = data flag. DROP makes it IDLE, FLIP xors, STICK holds the value. Bit 9: what the
// sender really says in this slot is lost, a computed STOP refresh too. Bit 10: only the character is, the refresh stays.
int san_fault(int cable, long long slot, int character) {
  if (lotteries[cable].damaged_below) character = lose(cable, slot, character);
  for (int i = 0; i < fault_count[cable]; i++) {
    const fault *f = &faults[cable][i];
    if (slot < f->first || slot >= f->end) continue;
    if (f->kind == FAULT_DROP) character = 0x200;
    else if (f->kind == FAULT_FLIP) character ^= f->value;
    else character = f->value | 0x200;
  }
  return character;
}
