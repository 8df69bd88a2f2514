// The clocks of a cluster and the Verilated models that they drive.
//
// A cluster is a number of components, each a model with clocks of its own: one for a host, one for a switch; or a single one
// that holds everything (the lone crossbar). At an edge time only components with a rising clock are evaluated,
// all of them with the characters that stood on their cables before; afterwards the changed ones are carried to the far ends.
// So coinciding edges sample old values, as they do in one model. Components are evaluated in the order of their numbers.
//
// Of a model only the parts concerned are evaluated (verilator_parts.hpp), or all of it by public means (verilator_public.hpp). What arrives on a cable is given the edge that samples it, and every edge while there are faults: no model asks
// for those by itself (sim_cable, CARRIED).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "verilated.h"
#ifdef SANLAB_PUBLIC
#include "verilator_public.hpp"
#else
#include "verilator_parts.hpp"
#endif
extern "C" {
#include "doorway.h"
extern int64_t dw_next_edge[];
extern int dw_faults;
int64_t dw_period(int clock);
}

constexpr int64_t NEVER = INT64_MAX;

class Cluster {
 public:
  int64_t now = 0;
  uint64_t edges = 0;      // rising edges so far, of all clocks
  CData *wake = nullptr;   // the top's input that cocotb watches
  bool pulses = false;     // waves are being written: clocks are seen to rise, and to fall by `fall`
#if VM_TRACE_FST
  std::vector<std::function<void(VerilatedFstC *)>> waves;  // one a component: puts its signals into a file, all into the same
#endif

  // ---------------------------------------------------------------- construction, by the generated components.h
  // The next component, a model with the pins rst and faults; `numbers`: what its clocks, units, ... are more than those it knows.
  template <class Model> Model *component(Model *model, const Parts &parts, dw_component numbers) {
    const char *name = *model->name() ? model->name() : "$rootio";   // as waves have it
    model->rst = 1;
    components_.push_back({Evaluated(model, parts), &model->rst, &model->faults, numbers, count(), 0, 0, 0, 0, true, {}, name});
#if VM_TRACE_FST
    waves.push_back([model](VerilatedFstC *file) { model->trace(file, 99); });
#endif
    return model;
  }
  // The next clock of the component added last.
  void clock(CData *clk, CData *refresh, const CData *awake) {
    Component &c = components_.back();
    const int number = count();
    const uint64_t rise = c.model.rise_of(clk), renew = c.model.rise_of(refresh);
    clocks_.push_back({awake, refresh, rise, renew, 0, 0, NEVER, nullptr, nullptr, 1ull << number % 64, nullptr, {}});
    wave_clocks::pin(c.name, "clk_" + std::to_string(c.clocks++), number, false);
  }
  // The next gated clock of the component added last: of its clock (counted in the component) it has the edges before which it is
  // `needed`, and, with `kicked`, those that must happen: software may have given commands to what it drives.
  void gated(int clock, CData *clk, const CData *needed, bool kicked) {
    Component &c = components_.back();
    Clock &owner = clocks_[c.first + clock];
    owner.gated.push_back({needed, c.model.rise_of(clk)});
    owner.gated_rises |= owner.gated.back().rise;
    if (kicked) owner.kicked |= owner.gated.back().rise;
    wave_clocks::pin(c.name, "gated_clk_" + std::to_string(c.gated++), c.first + clock, true);
  }
  // A cable direction out of a component; `clock` samples it, in its gated clock of this number.
  void cable(int component, const SData *tx, const CData *tx_hold, SData *in, CData *in_hold, int clock, int gated) {
    components_[component].cables.push_back({tx, tx_hold, in, in_hold, clock, clocks_[clock].gated[gated].rise, nullptr});
  }

  // ---------------------------------------------------------------- time
  bool driven() const { return !clocks_.empty(); }
  // The clocks run from now on. Those of one period stand on one grid.
  void start() {
    grids_.reserve(clocks_.size());   // clocks point into it
    words_ = (count() + 63) / 64;
    for (Component &c : components_) for (int i = c.first; i < c.first + c.clocks; i++) clocks_[i].owner = &c;
    for (int i = 0; i < count(); i++) {
      const int64_t period = dw_period(i);
      const auto same = std::find_if(grids_.begin(), grids_.end(), [&](const Grid &g) { return g.period == period; });
      Grid &grid = same == grids_.end() ? grids_.emplace_back(Grid{period, NEVER, NEVER, 0, {}}) : *same;
      clocks_[i].grid = &grid;
      clocks_[i].due = &grid.due[i / 64];
      shortest_ = std::min(shortest_, period);
      schedule(clocks_[i]);
    }
    for (Component &c : components_) {
      for (Cable &cable : c.cables) {
        cable.sampled = &clocks_[cable.clock];
        cable.sampled->owner->receivers |= cable.receiver;
      }
    }
  }
  int64_t next_edge() const {
    int64_t time = forced_.empty() ? NEVER : forced_.top().first;
    for (const Grid &g : grids_) time = std::min(time, g.next);
    return time;
  }
  // No clock has an edge before this time (0: one is due).
  int64_t quiet_until() const {
    const bool due = std::any_of(grids_.begin(), grids_.end(), [](const Grid &g) { return g.next != NEVER; });
    return due ? 0 : next_edge();
  }
  int64_t shortest() const { return shortest_; }
  // The clock's first edge strictly after `time` must happen.
  void kick(int clock, int64_t time) {
    const int64_t period = clocks_[clock].grid->period;
    const int64_t edge = (std::max(time, now) / period + 1) * period;
    if (edge > now + period) {
      forced_.emplace(edge, clock);
      return;
    }
    give(clocks_[clock]);
    schedule(clocks_[clock]);
  }
  // All edges at `now`. `stay_awake`: a clock that has an edge has the next one too.
  void edge(bool stay_awake, bool reset_over) {
    const Due rising = take_due();
    levels(reset_over);
    Clock *risen[DW_CLOCKS], **end = risen;
    for (int w = 0; w < words_; w++) {
      for (uint64_t bits = rising[w]; bits; bits &= bits - 1) *end++ = &clocks_[w * 64 + __builtin_ctzll(bits)];
    }
    for (Clock **first = risen, **last = first; first != end; first = last) {
      while (last != end && (*last)->owner == (*first)->owner) last++;
      evaluate(first, last, stay_awake);
    }
    const Component *done = nullptr;
    for (Clock **clock = risen; clock != end; clock++) {
      if ((*clock)->owner != done) carry(*(done = (*clock)->owner));
      if (stay_awake) schedule(**clock);
    }
  }
  // Software wrote signals: clocks that are needed now run on.
  void reconsider() { for (const Component &c : components_) go_on(c); }
  // For the eye only: no logic sees a clock rise or fall. Waves begin, with every clock low, or end.
  void waves_from(int64_t time) {
    pulses = true;
    for (int i = 0; i < count(); i++) wave_clocks::level(time, i, false);
  }
  void waves_end() { pulses = false, high_.clear(); }
  void fall() {
    for (const int clock : high_) wave_clocks::level(now, clock, false);
    high_.clear();
    for (Component &c : components_) c.model.fall();
  }

 private:
  using Due = std::array<uint64_t, DW_CLOCKS / 64>;   // one bit a clock
  using Forced = std::pair<int64_t, int>;             // (edge time, clock)
  struct Gated { const CData *needed; uint64_t rise; };
  struct Grid;
  struct Component;
  struct Clock {
    const CData *awake;
    CData *refresh;                     // high while sim_cycle is told the index
    uint64_t rise, renew, gated_rises;   // triggers that its edge sets, a rise of its pin refresh, the edges of all of its gated clocks
    uint64_t kicked;                    // and of those that need an edge that must happen
    int64_t last;                       // when it had its last edge
    Grid *grid;
    uint64_t *due, bit;                 // where it stands in its grid's `due`
    Component *owner;
    std::vector<Gated> gated;
  };
  // `receiver`: the triggers of the gated clock that samples it, of the clock `sampled`.
  struct Cable { const SData *tx; const CData *tx_hold; SData *in; CData *in_hold; int clock; uint64_t receiver; Clock *sampled; };
  struct Component {
    Evaluated model;
    CData *rst, *faults;
    dw_component numbers;
    int first, clocks, gated;    // its clocks; how many gated ones they have
    uint64_t given;              // triggers of gated clocks that have the next edge of their clock, needed or not
    uint64_t receivers;          // those of all gated clocks that sample cables
    bool changed;                // an input other than a clock
    std::vector<Cable> cables;
    std::string name;   // in waves
  };
  // All clocks of one period. `next`: the first multiple of it after now when some clock is due then, else NEVER; `index`: of `last`.
  struct Grid { int64_t period, next, last, index; Due due; };

  int count() const { return static_cast<int>(clocks_.size()); }
  // The clock has the next edge of its grid.
  void schedule(const Clock &clock) {
    *clock.due |= clock.bit;
    Grid &g = *clock.grid;
    if (g.next == NEVER) g.next = g.last == now ? now + g.period : (now / g.period + 1) * g.period;
  }
  // The clock's next edge must happen: those of its gated clocks that hear of it have it.
  static void give(const Clock &clock) { clock.owner->given |= clock.kicked; }
  Due take_due() {
    while (!forced_.empty() && forced_.top().first == now) {
      const Clock &clock = clocks_[forced_.top().second];
      give(clock);
      *clock.due |= clock.bit;
      clock.grid->next = now;
      forced_.pop();
    }
    Due rising;
    for (int w = 0; w < words_; w++) rising[w] = 0;
    for (Grid &g : grids_) {
      if (g.next != now) continue;
      g.index = g.last == now - g.period ? g.index + 1 : now / g.period;
      g.last = now;
      g.next = NEVER;
      for (int w = 0; w < words_; w++) rising[w] |= std::exchange(g.due[w], 0);
    }
    return rising;
  }
  void levels(bool reset_over) {
    if (in_reset_ && reset_over) {
      in_reset_ = false;
      for (Component &c : components_) *c.rst = 0, c.changed = true, c.model.seen();
    }
    if (!faults_ && dw_faults) {
      faults_ = true;
      for (Component &c : components_) *c.faults = 1, c.changed = true, c.given |= c.receivers, c.model.seen();
    }
  }
  void seen_to_rise(const Clock &clock) {
    const int number = static_cast<int>(&clock - clocks_.data());
    wave_clocks::level(now, number, true);
    high_.push_back(number);
  }
  // One component with its clocks that rise now, and those of their gated clocks that are needed (`all`: everyone). A clock that slept is
  // first told the index of this edge.
  void evaluate(Clock *const *first, Clock *const *end, bool all) {
    Component &c = *(*first)->owner;
    dw_here = c.numbers;
    c.model.seen();
    if (std::exchange(c.changed, false)) c.model.settle();
    uint64_t rise = 0, renew = 0, gated = 0;
    for (Clock *const *each = first; each != end; each++) {
      Clock &clock = **each;
      rise |= clock.rise;
      gated |= clock.gated_rises;
      if (pulses) seen_to_rise(clock);
      if (std::exchange(clock.last, now) == now - clock.grid->period) continue;
      dw_next_edge[&clock - clocks_.data()] = clock.grid->index;
      *clock.refresh = 1;
      renew |= clock.renew;
    }
    if (renew) c.model.edge(renew);
    for (Clock *const *each = first; each != end; each++) {
      const Clock &clock = **each;
      *clock.refresh = 0;
      for (const Gated &pin : clock.gated) rise |= pin.rise & -static_cast<uint64_t>(*pin.needed);
    }
    rise |= gated & (all ? gated : c.given);
    c.given = (c.given & ~gated) | (faults_ ? c.receivers : 0);
    c.model.edge(rise);
    edges += static_cast<uint64_t>(end - first);
    go_on(c);
  }
  // The clocks that the component needs have their next edge.
  void go_on(const Component &c) {
    const Clock *const first = &clocks_[c.first];
    for (const Clock *clock = first; clock != first + c.clocks; clock++) if (*clock->awake) schedule(*clock);
  }
  // What changed at a component's transmitters arrives at the far ends, which are given the edge that samples it.
  void carry(const Component &c) {
    for (const Cable &cable : c.cables) {
      if (*cable.tx == *cable.in && *cable.tx_hold == *cable.in_hold) continue;
      *cable.in = *cable.tx;
      *cable.in_hold = *cable.tx_hold;
      Component &far = *cable.sampled->owner;
      far.changed = true;
      far.given |= cable.receiver;
      schedule(*cable.sampled);
    }
  }

  std::vector<Clock> clocks_;
  std::vector<Component> components_;
  std::vector<Grid> grids_;
  std::vector<int> high_;   // clocks that waves show high
  std::priority_queue<Forced, std::vector<Forced>, std::greater<Forced>> forced_;
  int64_t shortest_ = NEVER;
  int words_ = 0;   // of `Due` that are in use
  bool in_reset_ = true, faults_ = false;
};
