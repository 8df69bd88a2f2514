// Verilated model that is evaluated through Verilator's public interface only: pins, `eval_step`, and its own waves.
//
// The slow path: chosen by `run.public_eval`, and for a version of Verilator that verilator_parts.hpp does not support.
// Results and trace are the same. The pin itself, by its position in the order of the main loop's requests, replaces a
// trigger.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace wave_clocks {   // the pins show the clocks
inline void pin(const std::string &, const std::string &, int, bool) {}
inline void level(int64_t, int, bool) {}
}  // namespace wave_clocks

using Parts = void (*)(void *model);
#define PARTS(model) static const Parts model##_parts = [](void *m) { static_cast<model *>(m)->eval_step(); }

class Evaluated {
 public:
  static constexpr bool PINS_MOVE = true;
  template <class Model> Evaluated(Model *model, Parts eval) : model_{model}, eval_{eval} { eval_(model_); }
  uint64_t rise_of(CData *pin) {
    pins_.push_back(pin);
    return 1ull << (pins_.size() - 1);
  }
  void settle() { eval_(model_); }
  // Clocks stay high until the next one of the model rises, so that waves show them.
  void edge(uint64_t pins) {
    fall();
    set(pins, 1);
    high_ = pins;
  }
  void fall() { if (high_) set(high_, 0), high_ = 0; }
  void seen() {}

 private:
  void set(uint64_t pins, CData level) {
    for (uint64_t bits = pins; bits; bits &= bits - 1) *pins_[__builtin_ctzll(bits)] = level;
    eval_(model_);
  }
  void *model_;
  Parts eval_;
  std::vector<CData *> pins_;
  uint64_t high_ = 0;
};
