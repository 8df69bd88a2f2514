// Clocks in the waves. The loop that drives them (verilator_clocks.hpp) reports when they rise and fall; no signal of a
// model moves or is compared for it. A gated clock shows its ungated clock, because only the simulator skips its edges.
#pragma once
#include <cstdint>
#include <string>

namespace wave_clocks {
#if VM_TRACE_FST
// Before the file is opened: this pin of a component, and every wire connected to it, shows that clock. A `hidden` pin
// has no name in the file itself.
void pin(const std::string &component, const std::string &name, int clock, bool hidden);
// Note the level at a time in ps that is not before anything in the file.
void level(int64_t time, int clock, bool high);
#else
inline void pin(const std::string &, const std::string &, int, bool) {}
inline void level(int64_t, int, bool) {}
#endif
}  // namespace wave_clocks
