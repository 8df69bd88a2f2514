// The clocks as waves show them. The loop that drives them (verilator_clocks.hpp) tells when they rise and fall; nothing of a model
// moves or is compared for it. A gated clock shows the clock of the whole: only the simulator leaves edges out.
#pragma once
#include <cstdint>
#include <string>

namespace wave_clocks {
#if VM_TRACE_FST
// Before the file is opened: this pin of a component, and every wire behind it, shows that clock. A pin that is `hidden` has no name
// in the file itself.
void pin(const std::string &component, const std::string &name, int clock, bool hidden);
// At a time, picoseconds, that is not before anything that is in the file.
void level(int64_t time, int clock, bool high);
#else
inline void pin(const std::string &, const std::string &, int, bool) {}
inline void level(int64_t, int, bool) {}
#endif
}  // namespace wave_clocks
