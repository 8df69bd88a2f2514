// The Verilator main loop: clocks that sleep, and VPI only when something is due.
//
// The clocks of a cluster are inputs of the top level, driven here (on Icarus by sim_clock.sv, with the same two rules: edges
// stand at whole multiples of the period, the first one strictly after the wake). A design without such clocks (a block bench
// whose clock cocotb drives) runs through the same loop with none.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif
extern "C" {
#include "doorway.h"
void vlog_startup_routines_bootstrap(void);
int dw_started(void);
int dw_always_on(void);
int64_t dw_reset_end(void);
int64_t dw_period(int clock);
int dw_wake_now(void);
extern int dw_faults;
extern int64_t dw_next_edge[];
}
#ifdef SANLAB_CLOCKS
#include "clocks.h"  // generated with the top level: CLOCKS, clock_pins(top)
#else
struct ClockPins { CData *clk; CData *refresh; const CData *awake; };
enum { CLOCKS = 0 };
static void clock_pins(Vtop *, ClockPins *, CData **, CData **, CData **) {}
#endif

namespace {
constexpr int64_t NEVER = INT64_MAX;
VerilatedContext *context;
int64_t now_ps = 0;
int64_t wake_time = NEVER;
uint64_t clock_edges = 0;

struct Clock { ClockPins pins; int64_t period, next, last; };  // next: NEVER while asleep
Clock clocks[CLOCKS + 1];
using Forced = std::pair<int64_t, int>;  // (edge time, clock)
std::priority_queue<Forced, std::vector<Forced>, std::greater<Forced>> forced;

int64_t edge_after(int clock, int64_t time) { return (time / clocks[clock].period + 1) * clocks[clock].period; }
int64_t hook_now() { return now_ps; }
void hook_wake(int64_t time) { wake_time = std::max(time, now_ps); }
void hook_kick(int clock, int64_t time) {
  const int64_t edge = edge_after(clock, std::max(time, now_ps));
  if (edge != clocks[clock].next) forced.emplace(edge, clock);  // a next edge that is certain needs no force
}

void settle() { while (VerilatedVpi::callValueCbs()) {} }

// Python may have run: let it see and change signals until nothing moves.
void python_phases(Vtop *top) {
  do {
    top->eval_step();
    VerilatedVpi::clearEvalNeeded();
    VerilatedVpi::doInertialPuts();
    settle();
    if (!VerilatedVpi::evalNeeded()) {
      VerilatedVpi::callCbs(cbReadWriteSynch);
      VerilatedVpi::doInertialPuts();
      settle();
    }
  } while (VerilatedVpi::evalNeeded());
  VerilatedVpi::callCbs(cbReadOnlySynch);
}

class Simulation {
 public:
  Simulation(Vtop *top, const char *waves) : top_(top) {
    clock_pins(top, pins_, &wake_, &reset_, &faults_);
    for (int i = 0; i < CLOCKS; i++) clocks[i] = {pins_[i], 1, NEVER, NEVER};
#if VM_TRACE_FST
    if (waves) { Verilated::traceEverOn(true); fst_ = std::make_unique<VerilatedFstC>(); top->trace(fst_.get(), 99); fst_->open(waves); }
#else
    (void)waves;
#endif
  }

  void run() {
    if (reset_) *reset_ = 1;
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle();
    python_phases(top_);
    dump();
    while (!context->gotFinish()) {
      if (CLOCKS && !running_ && dw_started()) start();
      const int64_t vpi = static_cast<int64_t>(std::min<uint64_t>(VerilatedVpi::cbNextDeadline(), static_cast<uint64_t>(NEVER)));
      const int64_t edge = next_edge();
      const int64_t time = std::min(std::min(vpi, wake_time), std::min(edge, fall_));
      if (time == NEVER) break;
      now_ps = time;
      context->time(static_cast<uint64_t>(time));
      if (time == fall_) fall();
      if (time == edge) clock_edge(time);
      if (time == vpi || time == wake_time) software(time, vpi);
      dump();
    }
    VerilatedVpi::callCbs(cbEndOfSimulation);
#if VM_TRACE_FST
    if (fst_) fst_->close();
#endif
  }

 private:
  void start() {
    running_ = true;
    for (int i = 0; i < CLOCKS; i++) {
      clocks[i].period = dw_period(i);
      clocks[i].next = edge_after(i, now_ps);
      shortest_ = std::min(shortest_, clocks[i].period);
    }
  }

  int64_t next_edge() {
    int64_t time = forced.empty() ? NEVER : forced.top().first;
    for (int i = 0; i < CLOCKS; i++) time = std::min(time, clocks[i].next);
    return time;
  }

  void clock_edge(int64_t time) {
    while (!forced.empty() && forced.top().first <= time) { clocks[forced.top().second].next = time; forced.pop(); }
    const bool keep = dw_always_on() || time < dw_reset_end();
    if (reset_ && *reset_ && time >= dw_reset_end()) *reset_ = 0;
    if (faults_) *faults_ = static_cast<CData>(dw_faults);
    int risen[CLOCKS + 1], n = 0, refreshed = 0;
    for (int i = 0; i < CLOCKS; i++) {
      Clock &c = clocks[i];
      if (c.next != time) continue;
      risen[n++] = i;
      if (c.last == time - c.period) continue;
      dw_next_edge[i] = time / c.period;  // it slept: its edge index is not the last one plus one
      *c.pins.refresh = 1;
      refreshed++;
    }
    if (refreshed) top_->eval_step();
    for (int k = 0; k < n; k++) {
      Clock &c = clocks[risen[k]];
      *c.pins.refresh = 0;
      *c.pins.clk = 1;
      c.last = time;
      dw_next_edge[risen[k]] = c.next / c.period + 1;
    }
    clock_edges += static_cast<uint64_t>(n);
    top_->eval_step();
    if (waving()) {  // a falling edge half a (shortest) period later, for the eye only: no logic uses it
      fall_ = std::min(fall_, time + shortest_ / 2);
    } else {
      for (int k = 0; k < n; k++) lower(clocks[risen[k]]);
      top_->eval_step();
    }
    for (int i = 0; i < CLOCKS; i++) {
      Clock &c = clocks[i];
      if (c.next == time) c.next = keep || *c.pins.awake ? time + c.period : NEVER;
      else if (c.next == NEVER && *c.pins.awake) c.next = edge_after(i, time);
    }
  }

  void fall() {
    fall_ = NEVER;
    for (int i = 0; i < CLOCKS; i++) if (*clocks[i].pins.clk) lower(clocks[i]);
    top_->eval_step();
  }

  static void lower(Clock &c) { *c.pins.clk = 0; }

  // Python's turn: straight through the doorway, or through cocotb (VPI call-backs, and `wake` where no call-back is set).
  void software(int64_t time, int64_t vpi) {
    bool phases = time == vpi;
    if (time == wake_time) {
      wake_time = NEVER;
      if (!dw_wake_now() && wake_) {
        *wake_ = static_cast<CData>(*wake_ + 1);
        phases = true;
      }
    }
    if (time == vpi) {
      VerilatedVpi::callCbs(cbNextSimTime);
      VerilatedVpi::callTimedCbs();
    }
    if (phases || VerilatedVpi::evalNeeded()) {
      settle();
      python_phases(top_);
      if (running_) for (int i = 0; i < CLOCKS; i++) if (clocks[i].next == NEVER && *clocks[i].pins.awake) clocks[i].next = edge_after(i, time);
    }
  }

#if VM_TRACE_FST
  bool waving() const { return fst_ != nullptr; }
  void dump() { if (fst_) fst_->dump(static_cast<uint64_t>(now_ps)); }
  std::unique_ptr<VerilatedFstC> fst_;
#else
  bool waving() const { return false; }
  void dump() {}
#endif
  Vtop *top_;
  ClockPins pins_[CLOCKS + 1] = {};
  CData *wake_ = nullptr, *reset_ = nullptr, *faults_ = nullptr;
  int64_t fall_ = NEVER, shortest_ = NEVER;
  bool running_ = false;
};
}  // namespace

extern "C" uint64_t dw_clock_edges(void) { return clock_edges; }
double sc_time_stamp() { return static_cast<double>(now_ps); }

int main(int argc, char **argv) {
  const char *waves = nullptr;
  for (int i = 1; i + 1 < argc; i++) if (!std::strcmp(argv[i], "--waves")) waves = argv[i + 1];
  context = Verilated::threadContextp();
  context->commandArgs(argc, argv);
  dw_set_hooks({hook_now, hook_wake, hook_kick, [](int, int64_t) {}, [] {}});  // start and faults are read each edge
  auto top = std::make_unique<Vtop>("");
  Verilated::fatalOnVpiError(false);
  vlog_startup_routines_bootstrap();
  Simulation(top.get(), waves).run();
  top->final();
  return context->errorCount() > 0;
}
