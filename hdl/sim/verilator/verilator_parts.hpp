// The parts of a Verilated model, by the names that Verilator gives them.
//
// `eval_step` of a model finds out by itself what changed: it looks at every clock, evaluates twice what depends on inputs, and wants
// to see a clock fall before it rises again. The loop knows what it changed, so it calls the parts of the model that are concerned:
// `settle` after an input, `edge` for clocks that rise. The names are those of one version of Verilator: another does not compile.
#pragma once
#include <cstdint>

// Which triggers the clocks set that rose since the last look, what depends on inputs, and what happens when triggers are set.
struct Parts {
  uint64_t (*risen)(void *root);
  void (*settle)(void *root);
  void (*edge)(void *root, uint64_t triggers);
};
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
        root->__VicoTriggered[0] = 1;                                                                   \
        if (model##___024root___eval_ico) model##___024root___eval_ico(root);                           \
      },                                                                                                \
      [](void *r, uint64_t triggers) {                                                                  \
        auto *root = static_cast<model##___024root *>(r);                                               \
        root->__VnbaTriggered[0] = triggers;                                                            \
        model##___024root___eval_nba(root);                                                             \
        root->__VnbaTriggered[0] = 0;                                                                   \
      }}
