// Faults on cables, by absolute time: the character that leaves the cable in a given character slot is changed or lost.
//
// A fault replaces, drops or flips characters in a half-open interval of slots. The clock of the cable stays awake for
// it.
#include <stdlib.h>

#include "doorway.h"

enum { FAULT_DROP = 1, FAULT_FLIP = 2, FAULT_STICK = 3 };
enum { HELD_BACK = 4 };   // random faults only
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

// Random loss: a packet that enters a cable is lost whole, or has one bit flipped, by probability, seed and its number
// on that cable. STOP, GO and BEAT among its characters belong to the other direction and pass.
//
// A packet may also be delayed: it is held back whole, and later packets of the sender overtake it. It is then sent
// between two packets. Characters that arrive meanwhile are delayed in order; delayed characters obey STOP as their
// sender does. A packet longer than MOST_HELD is only delayed, not overtaken.
enum { MOST_HELD = 600, LATE = 2048, HELD_SLOTS = 3200 };
typedef struct {
  uint64_t seed, packets;
  uint32_t lost_below, damaged_below, held_below;   // probability in units of 2^-32
  int64_t period;
  int clock, back;                      // clock of the receiving side; cable of the other direction
  int inside, fate, byte, at, mask;     // mask of the current packet
  int kept, whole;                      // delayed packet: its characters; 1 if complete
  int64_t until;                        // slot at which it continues
  int first, count, open;               // delayed characters; a packet is partly sent
  uint16_t held[MOST_HELD], late[LATE];
} lottery;
static lottery lotteries[DW_CABLES];
int64_t dw_loss_count[5];   // by kind of fault
enum { FLAG = 0x100, GAP = 0x00c, STOP = 0x00f, GO = 0x003, STOP_LASTS = 0x400, FEWEST_BYTES = 9, MANY_BYTES = 512 };

// `back`: the cable that carries the receiver's STOP and GO.
void dw_loss(int cable, int clock, int back, double lost, double damaged, double held, uint64_t seed) {
  lotteries[cable] = (lottery){.seed = seed, .lost_below = (uint32_t)(lost * 4294967295.0),
                               .damaged_below = (uint32_t)((lost + damaged) * 4294967295.0),
                               .held_below = (uint32_t)((lost + damaged + held) * 4294967295.0), .period = dw_period(clock),
                               .clock = clock, .back = back};
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
  if (!l->fate && number < l->held_below && !l->kept) l->fate = HELD_BACK;
  if (l->fate == HELD_BACK) l->until = (int64_t)(more >> 32) % HELD_SLOTS;
  l->byte = (int)(more >> 8 & 0xffff) % (more & 1 ? FEWEST_BYTES : MANY_BYTES);
  l->mask = 1 << (more >> 1 & 7);
}
static int lose(int cable, int64_t slot, int character) {
  lottery *l = &lotteries[cable];
  int data = character & FLAG, hit = 0, changed = character;
  if (data && !l->inside) draw(l, cable);
  if (!l->inside || !l->fate || l->fate == HELD_BACK || !(data || character == GAP)) {
    if (character == GAP && l->fate != HELD_BACK) l->inside = 0;
    return character;
  }
  if (l->fate == FAULT_DROP) {
    changed = STOP_LASTS;
    hit = l->at == 0;
  } else if (data && l->at == l->byte) {
    changed = character ^ l->mask | STOP_LASTS;
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

// Last STOP or GO that arrived on a cable, as of the previous slot, because cables are evaluated in arbitrary order
// within a slot.
static struct { int64_t slot; int now, before; } stopped[DW_CABLES];
static void note_stop(int cable, int64_t slot, int character) {
  if (character != STOP && character != GO) return;
  if (stopped[cable].slot != slot) stopped[cable].before = stopped[cable].now;
  stopped[cable].slot = slot;
  stopped[cable].now = character == STOP;
}
static int stops(int cable, int64_t slot) { return stopped[cable].slot == slot ? stopped[cable].before : stopped[cable].now; }

static void be_late(lottery *l, int character) {
  l->late[(l->first + l->count++) % LATE] = (uint16_t)character;
}
static void keep(lottery *l, int cable, int64_t slot, int character) {
  if (!l->kept) {
    dw_loss_count[HELD_BACK]++;
    san_trace(slot * l->period, CABLE_UNITS + cable, EVENT_FAULT, 0, HELD_BACK, (long long)l->packets - 1);
  }
  l->held[l->kept++] = (uint16_t)character;
  if (character == GAP) {
    l->inside = 0;
    l->whole = 1;
    l->until += slot + 1;
    san_alarm(l->clock, l->until);
  } else if (l->kept == MOST_HELD) {
    for (int i = 0; i < l->kept; i++) be_late(l, l->held[i]);
    l->kept = l->fate = 0;
  }
}
// Return the character that leaves in this slot when packets are held back or delayed.
static int hold(lottery *l, int cable, int64_t slot, int character) {
  const int flows = (character & FLAG) || character == GAP;
  if (flows && l->fate == HELD_BACK && l->inside) keep(l, cable, slot, character);
  else if (flows) be_late(l, character);
  if (l->whole && slot >= l->until && !l->open) {
    for (int i = l->kept; i--;) {
      l->first = (l->first + LATE - 1) % LATE;
      l->late[l->first] = l->held[i];
      l->count++;
    }
    l->kept = l->whole = 0;
  }
  int leaves = flows ? STOP_LASTS : character;
  const int straight = flows && l->count == 1;   // sent in this slot: its sender has already checked STOP
  if (l->count && (flows || !character) && (straight || !stops(l->back, slot))) {
    leaves = l->late[l->first] | STOP_LASTS;
    l->first = (l->first + 1) % LATE;
    l->count--;
    l->open = (leaves & FLAG) != 0;
  }
  if (l->count || (l->whole && slot >= l->until)) san_alarm(l->clock, slot + 1);
  return leaves;
}

// Cable extended by a number of slots: its packets stay in order, and packets on other routes overtake them. Characters
// on the extension obey STOP as their sender does, so it holds at most DELAYED characters plus those in flight.
enum { DELAYED = 1 << 15 };
typedef struct {
  int64_t slots;
  int clock, back, first, count;
  uint16_t character[DELAYED];
  int64_t due[DELAYED];
} line;
static line *lines[DW_CABLES];

// `back`: the cable that carries the receiver's STOP and GO. Returns -1 if there is no room for so many slots.
int dw_delay(int cable, int clock, int back, int64_t slots) {
  if (slots < 1 || slots > DELAYED / 2) return -1;
  if (!lines[cable]) lines[cable] = calloc(1, sizeof(line));
  line *l = lines[cable];
  l->slots = slots;
  l->clock = clock;
  l->back = back;
  dw_faults = 1;
  dw_faults_on();
  return 0;
}
static int delay(line *l, int64_t slot, int character) {
  const int flows = (character & FLAG) || character == GAP;
  int leaves = flows ? STOP_LASTS : character;
  if (flows) {
    const int at = (l->first + l->count++) % DELAYED;
    l->character[at] = (uint16_t)character;
    l->due[at] = slot + l->slots;
  }
  if (!l->count) return leaves;
  if (l->due[l->first] <= slot && (flows || !character) && !stops(l->back, slot)) {
    leaves = l->character[l->first] | STOP_LASTS;
    l->first = (l->first + 1) % DELAYED;
    l->count--;
  }
  if (l->count) san_alarm(l->clock, l->due[l->first] > slot ? l->due[l->first] : slot + 1);
  return leaves;
}

// Return the nine-bit character after faults: bit 8 = data flag. DROP makes it IDLE, FLIP XORs it, STICK holds the
// value. Bit 9: the sender's own character of this slot is lost, including a computed STOP refresh. Bit 10: only the
// character is lost, the refresh is not.
int san_fault(int cable, long long slot, int character) {
  lottery *l = &lotteries[cable];
  note_stop(cable, slot, character);
  if (l->held_below) character = lose(cable, slot, character);
  if (l->held_below > l->damaged_below) character = hold(l, cable, slot, character);
  if (lines[cable]) character = delay(lines[cable], slot, character);
  for (int i = 0; i < fault_count[cable]; i++) {
    const fault *f = &faults[cable][i];
    if (slot < f->first || slot >= f->end) continue;
    if (f->kind == FAULT_DROP) character = 0x200;
    else if (f->kind == FAULT_FLIP) character ^= f->value;
    else character = f->value | 0x200;
  }
  return character;
}
