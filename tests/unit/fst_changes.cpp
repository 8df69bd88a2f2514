// Hands what stands on the standard input to the writer of waves, as Verilator's back end and the loop that drives clocks do: the
// number of signals and the width of each, then what changes, in 32-bit words: the number of a signal, from 1 on, and the value; or 0
// and the two words of a time; or CLOCK and its level.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#define VM_TRACE_FST 1
#define Writer Declarations
#include "fstcpp/fstcpp_variable_info.cpp"
#include "fstcpp/fstcpp_writer.cpp"
#undef Writer
#include "verilator_waves.hpp"

static constexpr uint32_t CLOCK = UINT32_MAX;

static bool read(uint32_t *to, size_t words) { return std::fread(to, sizeof *to, words, stdin) == words; }

int main(int, char **argv) {
  fst::Writer writer{argv[1]};
  uint32_t count, handle, zero = 0;
  read(&count, 1);
  std::vector<uint32_t> bits(count);
  read(bits.data(), count);
  const auto declare = [&](const std::string &name, uint32_t width, uint32_t alias) {
    const auto type = fst::Hierarchy::VarType::SV_LOGIC;
    return writer.createVar(type, fst::Hierarchy::VarDirection::IMPLICIT, width, name, alias);
  };
  std::vector<uint32_t> numbers;
  wave_clocks::pin("top", "clk_0", 0, false);
  wave_clocks::pin("top", "part_clk_0", 0, true);
  writer.setScope(fst::Hierarchy::ScopeType::VCD_MODULE, "top", "");
  const uint32_t clk = declare("clk_0", 1, zero), part_clk = declare("part_clk_0", 1, zero);
  for (uint32_t i = 0; i < count; i++) numbers.push_back(declare("s" + std::to_string(i), bits[i], zero));
  declare("again", bits[0], numbers[0]);
  writer.setScope(fst::Hierarchy::ScopeType::VCD_MODULE, "unit", "");
  declare("clk", 1, clk);
  declare("send_clk", 1, part_clk);
  writer.upscope();
  writer.upscope();
  uint64_t now = 0;
  while (read(&handle, 1)) {
    const uint32_t words = handle == CLOCK ? 1 : handle ? (bits[handle - 1] + 31) / 32 : 2;
    std::vector<uint32_t> value(words + 1);
    read(value.data(), words);
    const uint64_t low = value[0] | (words > 1 ? static_cast<uint64_t>(value[1]) << 32 : 0);
    if (!handle) {
      writer.emitTimeChange(now = low);
      for (const uint32_t pin : {clk, part_clk}) writer.emitValueChange(pin, uint64_t{0});   // as the model has them
    } else if (handle == CLOCK) {
      wave_clocks::level(static_cast<int64_t>(now), 0, low);
    } else if (words <= 2) {
      writer.emitValueChange(numbers[handle - 1], low);
    } else {
      writer.emitValueChange(numbers[handle - 1], value.data());
    }
  }
  writer.close();
}
