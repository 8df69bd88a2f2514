// Verilator main loop: clocks that sleep, and VPI only when a callback is due.
//
// The clocks of a cluster are inputs of its models, driven here (verilator_clocks.hpp; on Icarus by sim_clock.sv, with
// the same two rules: edges lie at whole multiples of the period, the first one strictly after the wake-up). cocotb
// sees one model, Vtop: the whole design, or only the input `wake` where the components are models of their own. A
// design without such clocks (a block bench whose clock cocotb drives) runs through the same loop with none.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"
#include "verilator_clocks.hpp"
extern "C" {
void vlog_startup_routines_bootstrap(void);
int dw_started(void);
int dw_always_on(void);
int64_t dw_reset_end(void);
int dw_wake_now(void);
}
#ifdef SANLAB_CLOCKS
#include "components.h"  // generated with the top level: describe(top, cluster)
#else
static void describe(Vtop *, Cluster &) {}
#endif

namespace {
VerilatedContext *context;
Cluster cluster;
int64_t wake_time = NEVER;

int64_t hook_now() { return cluster.now; }
void hook_wake(int64_t time) { wake_time = std::max(time, cluster.now); }
void hook_kick(int clock, int64_t time) { cluster.kick(clock, time); }

// Return the time of the next VPI callback.
int64_t vpi_deadline() {
  return static_cast<int64_t>(std::min<uint64_t>(VerilatedVpi::cbNextDeadline(), static_cast<uint64_t>(NEVER)));
}

// Waves show every edge, so none is skipped while they are written.
bool waves_asked;
// Neither is one skipped in a build with public signals (SANLAB_WATCHED), since cocotb may watch them.
#ifdef SANLAB_WATCHED
constexpr bool WATCHED = true;
#else
constexpr bool WATCHED = false;
#endif
int64_t hook_quiet_until() { return waves_asked || WATCHED ? 0 : std::min(vpi_deadline(), cluster.quiet_until()); }

void settle() { while (VerilatedVpi::callValueCbs()) {} }

// Python may have run: let it read and write signals until they are stable.
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
  // Waves are written from `from` to `to`, picoseconds. No clock has an edge at an odd picosecond, so waves that begin
  // there contain every edge from its beginning.
  Simulation(Vtop *top, const char *waves, int64_t from, int64_t to) : top_(top), from_(from ? from | 1 : 0), to_(to) {
    describe(top, cluster);
#if VM_TRACE_FST
    if (waves) open(waves);
#else
    (void)waves;
#endif
  }

  void run() {
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle();
    python_phases(top_);
    int64_t vpi = vpi_deadline();   // only Python sets another
    while (!context->gotFinish()) {
      if (!running_ && cluster.driven() && dw_started()) {
        running_ = true;
        always_on_ = dw_always_on();
        reset_end_ = dw_reset_end();
        cluster.start();
      }
      const int64_t edge = cluster.next_edge();
      const int64_t time = std::min(std::min(vpi, wake_time), std::min(edge, fall_));
      if (time == NEVER) break;
      cluster.now = time;
      if (waving() != cluster.pulses) begin_or_end_waves();
      context->time(static_cast<uint64_t>(time));
      const bool fell = time == fall_;
      if (fell) {
        fall_ = NEVER;
        cluster.fall();
      }
      if (time == edge) {
        const bool reset_over = time >= reset_end_;
        cluster.edge(always_on_ || !reset_over, reset_over);
        if (cluster.pulses || WATCHED) fall_ = std::min(fall_, time + cluster.shortest() / 2);
      }
      if (WATCHED && (time == edge || fell)) watch(vpi);
      const bool turn = time == vpi || time == wake_time;
      if (turn) {
        software(time, vpi);
        vpi = vpi_deadline();
      }
      if (turn || time == edge || (Evaluated::PINS_MOVE && fell)) dump(time);
    }
    VerilatedVpi::callCbs(cbEndOfSimulation);
#if VM_TRACE_FST
    if (fst_) fst_->close();
#endif
  }

 private:
  // Run Python's turn: directly through the doorway, or through cocotb (VPI callbacks, and `wake` if no callback is
  // set).
  void software(int64_t time, int64_t vpi) {
    bool phases = time == vpi;
    if (time == wake_time) {
      wake_time = NEVER;
      if (!dw_wake_now() && cluster.wake) {
        *cluster.wake = static_cast<CData>(*cluster.wake + 1);
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
      if (running_) cluster.reconsider();
    }
  }

  // Call cocotb back for public signals that an edge has changed. `vpi`: time of the next VPI callback.
  void watch(int64_t &vpi) {
    VerilatedVpi::callCbs(cbNextSimTime);
    if (!VerilatedVpi::callValueCbs()) return;
    settle();
    python_phases(top_);
    if (running_) cluster.reconsider();
    vpi = vpi_deadline();
  }

  // Waves contain the values before their first change, from their start on.
  void begin_or_end_waves() {
    if (cluster.pulses) return cluster.waves_end();
    if (from_ < cluster.now) dump(from_);
    cluster.waves_from(from_);
  }
#if VM_TRACE_FST
  void open(const char *waves) {
    Verilated::traceEverOn(true);
    fst_ = std::make_unique<VerilatedFstC>();
    if (cluster.waves.empty()) top_->trace(fst_.get(), 99);
    for (const auto &add : cluster.waves) add(fst_.get());
    fst_->open(waves);
  }
  bool waving() const { return fst_ && cluster.now >= from_ && cluster.now <= to_; }
  void dump(int64_t time) { if (waving()) fst_->dump(static_cast<uint64_t>(time)); }
  std::unique_ptr<VerilatedFstC> fst_;
#else
  bool waving() const { return false; }
  void dump(int64_t) {}
#endif
  Vtop *top_;
  [[maybe_unused]] const int64_t from_, to_;
  int64_t fall_ = NEVER;
  bool running_ = false, always_on_ = false;
  int64_t reset_end_ = NEVER;   // these two are set when the clocks start
};
}  // namespace

extern "C" uint64_t dw_clock_edges(void) { return cluster.edges; }
double sc_time_stamp() { return static_cast<double>(cluster.now); }

int main(int argc, char **argv) {
  const char *waves = nullptr;
  int64_t from = 0, to = NEVER;
  for (int i = 1; i + 1 < argc; i++) {
    if (!std::strcmp(argv[i], "--waves")) waves = argv[i + 1];
    if (!std::strcmp(argv[i], "--from")) from = std::strtoll(argv[i + 1], nullptr, 10);
    if (!std::strcmp(argv[i], "--to")) to = std::strtoll(argv[i + 1], nullptr, 10);
  }
  waves_asked = waves != nullptr;
  context = Verilated::threadContextp();
  context->commandArgs(argc, argv);
  dw_set_hooks({hook_now, hook_wake, hook_kick, [](int, int64_t) {}, [] {}, hook_quiet_until});  // start and faults are read each edge
  auto top = std::make_unique<Vtop>("");
  Verilated::fatalOnVpiError(false);
  vlog_startup_routines_bootstrap();
  Simulation(top.get(), waves, from, to).run();
  top->final();
  return context->errorCount() > 0;
}
