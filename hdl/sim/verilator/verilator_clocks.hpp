// Clocks of a cluster and the Verilated models that they drive.
//
// A cluster consists of components, each a model with its own clocks: one for a host, one for a switch; or a single one
// that contains everything (the crossbar alone). At an edge time only components with a rising clock are evaluated, all
// of them with the characters that were on their cables before; afterwards the changed ones are carried to the far
// ends. Coinciding edges therefore sample old values, as in one model. Components are evaluated in the order of their
// numbers.
//
// Only the affected parts of a model are evaluated (verilator_parts.hpp), or all of it through the public interface
// (verilator_public.hpp). A character that arrives on a cable gets the edge that samples it, and every edge while there
// are faults: no model requests those by itself (sim_cable, CARRIED). The needs of a clock and its gated clocks are in
// one word of the model.
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
#include "verilator_component.hpp"
extern "C" {
extern int64_t dw_next_edge[];
extern int dw_faults;
int64_t dw_period(int clock);
}

class Cluster {
 public:
  int64_t now = 0;
  uint64_t edges = 0;      // rising edges so far, of all clocks
  CData *wake = nullptr;   // the top's input that cocotb watches
  bool pulses = false;     // waves are being written: clocks are seen to rise, and to fall by `fall`
#if VM_TRACE_FST
  std::vector<std::function<void(VerilatedFstC *)>> waves;  // one per component: adds its signals to the common file
#endif

  // ---------------------------------------------------------------- construction, by the generated components.h
  // The next component, a model with the pins rst and faults; `numbers`: what its clocks, units, ... are more than those it knows.
  template <class Model> Model *component(Model *model, const Parts &parts, dw_component numbers) {
    const char *name = *model->name() ? model->name() : "$rootio";   // name as in the waves
    model->rst = 1;
    components_.push_back({Evaluated(model, parts), &model->rst, &model->faults, numbers, count(), 0, 0, 0, 0, true, {}, name});
#if VM_TRACE_FST
    waves.push_back([model](VerilatedFstC *file) { model->trace(file, 99); });
#endif
    return model;
  }
  // Add the next clock of the component added last. `wants`: the top bit is set if the clock needs its next edge; the
  // lower bits mark its gated clocks that need that edge, in the order in which they are added.
  void clock(CData *clk, CData *refresh, const IData *wants) {
    Component &c = components_.back();
    const int number = count();
    const uint64_t rise = c.model.rise_of(clk), renew = c.model.rise_of(refresh);
    clocks_.push_back({wants, refresh, rise, renew, 0, 0, NEVER, nullptr, nullptr, number, 0, 0, 0, nullptr, nullptr, nullptr, {}});
    wave_clocks::pin(c.name, "clk_" + std::to_string(c.clocks++), number, false);
  }
  // Add the next gated clock of the component added last. It gets the edges of its clock (index within the component)
  // before which it is needed, and, with `kicked`, the mandatory ones, because software may have given commands to the
  // logic that it drives.
  void gated(int clock, CData *clk, bool kicked) {
    Component &c = components_.back();
    Clock &owner = clocks_[c.first + clock];
    owner.gated.push_back(c.model.rise_of(clk));
    owner.gated_rises |= owner.gated.back();
    if (kicked) owner.kicked |= owner.gated.back();
    wave_clocks::pin(c.name, "gated_clk_" + std::to_string(c.gated++), c.first + clock, true);
  }
  // Add a cable direction out of a component. Its sender has the clock `out` (gated clock number `out_gated`; -1: any
  // of its edges); `clock` samples it, in its gated clock number `gated`.
  void cable(int component, const SData *tx, SData *in, int out, int out_gated, int clock, int gated) {
    Component &c = components_[component];
    const uint64_t sent = out_gated < 0 ? clocks_[out].rise : clocks_[out].gated[out_gated], first = sent & -sent;
    c.senders |= first;
    c.cable_at[__builtin_ctzll(first)] = static_cast<uint8_t>(c.cables.size());
    c.cables.push_back({tx, in, clocks_[clock].gated[gated], clock, nullptr});
  }

  // ---------------------------------------------------------------- time
  bool driven() const { return !clocks_.empty(); }
  // Start the clocks. Clocks of one period share one grid.
  void start() {
    grids_.reserve(clocks_.size());   // clocks point into it
    place();
    for (int i = 0; i < count(); i++) {
      const int64_t period = dw_period(i);
      const auto same = std::find_if(grids_.begin(), grids_.end(), [&](const Grid &g) { return g.period == period; });
      Clock &clock = clocks_[i];
      clock.grid = same == grids_.end() ? &grids_.emplace_back(period, at_.size() / 64) : &*same;
      clock.due = &clock.grid->due[clock.word];
      clock.some = &clock.grid->some[clock.word / 64];
      clock.needs = meanings_.of(clock.gated);
      shortest_ = std::min(shortest_, period);
      schedule(clock);
    }
    for (Component &c : components_) {
      for (Cable &cable : c.cables) {
        cable.sampled = &clocks_[cable.clock];
        cable.sampled->owner->receivers |= cable.receiver;
      }
    }
    sent_.reserve(components_.size());
  }
  int64_t next_edge() const {
    int64_t time = forced_.empty() ? NEVER : forced_.top().first;
    for (const Grid &g : grids_) time = std::min(time, g.next);
    return time;
  }
  // Return the time before which no clock has an edge (0: one is due).
  int64_t quiet_until() const {
    const bool due = std::any_of(grids_.begin(), grids_.end(), [](const Grid &g) { return g.next != NEVER; });
    return due ? 0 : next_edge();
  }
  int64_t shortest() const { return shortest_; }
  // The clock's first edge strictly after `time` must occur.
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
  // Evaluate all edges at `now`. `stay_awake`: a clock that has an edge has the next one, too.
  void edge(bool stay_awake, bool reset_over) {
    if (in_reset_ || (dw_faults && !faults_)) levels(reset_over);
    Grid *due[DW_CLOCKS], **const end = take_due(due);
    for (size_t s = 0; s < grids_.front().some.size(); s++) {
      for (uint64_t some = taken(due, end, &Grid::some, s); some; some &= some - 1) {
        const size_t w = s * 64 + static_cast<size_t>(__builtin_ctzll(some));
        for (uint64_t bits = taken(due, end, &Grid::due, w); bits;) {
          Component &c = *at_[w * 64 + static_cast<size_t>(__builtin_ctzll(bits))]->owner;
          evaluate(c, bits & c.bits, stay_awake);
          bits &= ~c.bits;
        }
      }
    }
    for (Component *c : sent_) carry(*c);
    sent_.clear();
  }
  // Software wrote signals: keep the needed clocks running.
  void reconsider() { for (const Component &c : components_) go_on(c); }
  // For display only: no logic sees a clock rise or fall. Begin the waves with every clock low, or end them.
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
  using Forced = std::pair<int64_t, int>;             // (edge time, clock)
  int count() const { return static_cast<int>(clocks_.size()); }
  // Assign each clock its position in the words of `due`, in the order of their numbers.
  void place() {
    for (Component &c : components_) {
      if (at_.size() % 64 + static_cast<size_t>(c.clocks) > 64) at_.resize((at_.size() + 63) / 64 * 64);
      for (Clock *clock = &clocks_[c.first]; clock != &clocks_[c.first] + c.clocks; clock++) {
        clock->owner = &c;
        clock->word = at_.size() / 64;
        clock->word_bit = 1ull << clock->word % 64;
        c.bits |= clock->bit = 1ull << at_.size() % 64;
        at_.push_back(clock);
      }
    }
    at_.resize((at_.size() + 63) / 64 * 64);
    for (Component &c : components_) c.own = &clocks_[c.first], c.at = &at_[c.own->word * 64];
  }
  // The clock has the next edge of its grid.
  void schedule(const Clock &clock) {
    *clock.due |= clock.bit;
    *clock.some |= clock.word_bit;
    Grid &g = *clock.grid;
    if (g.next == NEVER) g.next = g.last == now ? now + g.period : (now / g.period + 1) * g.period;
  }
  // The clock's next edge must occur, with those of its gated clocks that follow commands.
  static void give(const Clock &clock) { clock.owner->given |= clock.kicked; }
  // Collect the grids with an edge now in `due`; returns the end.
  Grid **take_due(Grid **due) {
    while (!forced_.empty() && forced_.top().first == now) {
      const Clock &clock = clocks_[forced_.top().second];
      give(clock);
      schedule(clock);
      clock.grid->next = now;
      forced_.pop();
    }
    for (Grid &g : grids_) {
      if (g.next != now) continue;
      g.index = g.last == now - g.period ? g.index + 1 : now / g.period;
      g.last = now;
      g.next = NEVER;
      *due++ = &g;
    }
    return due;
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
    wave_clocks::level(now, clock.number, true);
    high_.push_back(clock.number);
  }
  // Evaluate one component with those of its clocks that rise now, `own`, and those of their gated clocks that are
  // needed (`all`: all of them). A clock that has slept first receives the index of this edge.
  void evaluate(Component &c, uint64_t own, bool all) {
    Clock *const *const at = c.at;
    dw_here = &c.numbers;
    c.model.seen();
    if (std::exchange(c.changed, false)) c.model.settle();
    uint64_t rise = 0, needed = 0, renew = 0, gated = 0;
    for (uint64_t bits = own; bits; bits &= bits - 1) {
      Clock &clock = *at[__builtin_ctzll(bits)];
      rise |= clock.rise;
      gated |= clock.gated_rises;
      needed |= clock.needed();
      edges++;
      if (std::exchange(clock.last, now) == now - clock.grid->period) continue;
      dw_next_edge[clock.number] = clock.grid->index;
      *clock.refresh = 1;
      renew |= clock.renew;
    }
    if (pulses) for (uint64_t bits = own; bits; bits &= bits - 1) seen_to_rise(*at[__builtin_ctzll(bits)]);
    if (renew) {
      c.model.edge(renew);
      needed = 0;
      for (uint64_t bits = own; bits; bits &= bits - 1) {
        const Clock &clock = *at[__builtin_ctzll(bits)];
        *clock.refresh = 0;
        needed |= clock.needed();
      }
    }
    rise |= all ? gated : needed | (gated & c.given);
    c.given = (c.given & ~gated) | (faults_ ? c.receivers : 0);
    c.model.edge(rise);
    go_on(c);
    if (all) for (uint64_t bits = own; bits; bits &= bits - 1) schedule(*at[__builtin_ctzll(bits)]);
    if ((c.sent = rise & c.senders)) sent_.push_back(&c);
  }
  // Schedule the next edge of the clocks that the component needs.
  void go_on(const Component &c) {
    for (const Clock *clock = c.own, *const end = clock + c.clocks; clock != end; clock++) {
      if (*clock->wants >> 31 && !(*clock->due & clock->bit)) schedule(*clock);
    }
  }
  // Carry changed transmitter outputs of a component to the far ends, which get the edge that samples them.
  void carry(const Component &c) {
    for (uint64_t sent = c.sent; sent; sent &= sent - 1) {
      const Cable &cable = c.cables[c.cable_at[__builtin_ctzll(sent)]];
      if (*cable.tx == *cable.in) continue;
      *cable.in = *cable.tx;
      Component &far = *cable.sampled->owner;
      far.changed = true;
      far.given |= cable.receiver;
      schedule(*cable.sampled);
    }
  }

  std::vector<Clock> clocks_;
  std::vector<Component> components_;
  std::vector<Clock *> at_;   // by their positions in the words of `due`
  std::vector<Grid> grids_;
  Meanings meanings_;
  std::vector<Component *> sent_;   // components with cables whose senders have just had an edge
  std::vector<int> high_;   // clocks that waves show high
  std::priority_queue<Forced, std::vector<Forced>, std::greater<Forced>> forced_;
  int64_t shortest_ = NEVER;
  bool in_reset_ = true, faults_ = false;
};
