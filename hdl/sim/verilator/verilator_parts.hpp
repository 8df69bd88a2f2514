// Verilated model of which only the affected parts are evaluated, by Verilator's internal names.
//
// `eval_step` of a model determines the changes itself: it checks every clock, evaluates logic that depends on inputs
// twice, and must see a clock fall before it rises again. The main loop knows the changes, so it calls the affected
// parts of the model: `settle` after an input, `edge` for rising clocks. The names are those of one version of
// Verilator (tb/tools/programs.py); with another one, models are evaluated by verilator_public.hpp, with the same
// results.
#pragma once
#include <cstdint>
#if VM_TRACE_FST
#include "verilator_waves.hpp"
#endif
#include "wave_clocks.hpp"

// Triggers of the clocks that have risen since the last evaluation, logic that depends on inputs, and logic run by
// triggers.
struct Parts {
  uint64_t (*risen)(void *root);
  void (*settle)(void *root);
  void (*edge)(void *root, uint64_t triggers);
};
// A model whose logic depends on no input except at edges has no trigger of inputs.
template <class Root> auto input_changed(Root *root, int) -> decltype(static_cast<void>(root->__VicoTriggered[0])) { root->__VicoTriggered[0] = 1; }
template <class Root> void input_changed(Root *, long) {}
#define PARTS(model)                                                                                    \
  void model##___024root___eval_triggers_vec__act(model##___024root *root);                             \
  __attribute__((weak)) void model##___024root___eval_ico(model##___024root *root);                     \
  void model##___024root___eval_nba(model##___024root *root);                                           \
  static const Parts model##_parts = {                                                                  \
      [](void *r) {                                                                                     \
        auto *root = static_cast<model##___024root *>(r);                                               \
        static_assert(sizeof root->__VactTriggered == 8 && sizeof root->__VnbaTriggered == 8);          \
        model##___024root___eval_triggers_vec__act(root);                                               \
        return static_cast<uint64_t>(root->__VactTriggered[0]);                                         \
      },                                                                                                \
      [](void *r) {                                                                                     \
        auto *root = static_cast<model##___024root *>(r);                                               \
        input_changed(root, 0);                                                                         \
        if (model##___024root___eval_ico) model##___024root___eval_ico(root);                           \
      },                                                                                                \
      [](void *r, uint64_t triggers) {                                                                  \
        auto *root = static_cast<model##___024root *>(r);                                               \
        root->__VnbaTriggered[0] = triggers;                                                            \
        model##___024root___eval_nba(root);                                                             \
        root->__VnbaTriggered[0] = 0;                                                                   \
      }}

class Evaluated {
 public:
  // The pins of clocks never move: the waves get the clocks from wave_clocks.hpp.
  static constexpr bool PINS_MOVE = false;
  template <class Model> Evaluated(Model *model, const Parts &parts) : root_{model->rootp}, parts_{&parts} {
    model->eval_step();
#if VM_TRACE_FST
    moved_ = &model->rootp->vlSymsp->__Vm_activity;
#endif
  }
  // Return the triggers of a rise of a clock's pin, also if the model keeps wires between the pin and the clocked
  // logic.
  uint64_t rise_of(CData *pin) {
    uint64_t set = 0;
    for (const CData level : {1, 0}) {
      *pin = level;
      settle();
      const uint64_t changed = parts_->risen(root_);
      if (level) set = changed;
    }
    return set;
  }
  // Inputs other than clocks have changed.
  void settle() { parts_->settle(root_); }
  // The clocks with these triggers rise.
  void edge(uint64_t triggers) { parts_->edge(root_, triggers); }
  void fall() {}
  // The waves are about to read the model: its signals may have changed.
  void seen() { if (moved_) *moved_ = true; }

 private:
  void *root_;
  const Parts *parts_;
  bool *moved_ = nullptr;
};
