// Hands what stands on the standard input to the writer of waves, as Verilator's back end does: the number of signals and the width
// of each, then what changes, in 32-bit words: a handle and the value, or 0 and the two words of a time.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#define Writer Declarations
#include "fstcpp/fstcpp_variable_info.cpp"
#include "fstcpp/fstcpp_writer.cpp"
#undef Writer
#include "verilator_waves.hpp"

static bool read(uint32_t *to, size_t words) { return std::fread(to, sizeof *to, words, stdin) == words; }

int main(int, char **argv) {
  fst::Writer writer{argv[1]};
  uint32_t count, handle, zero = 0;
  read(&count, 1);
  std::vector<uint32_t> bits(count);
  read(bits.data(), count);
  writer.setScope(fst::Hierarchy::ScopeType::VCD_MODULE, "top", "");
  const auto declare = [&](const std::string &name, uint32_t width, uint32_t alias) {
    const auto type = fst::Hierarchy::VarType::SV_LOGIC;
    writer.createVar(type, fst::Hierarchy::VarDirection::IMPLICIT, width, name.c_str(), alias);
  };
  for (uint32_t i = 0; i < count; i++) declare("s" + std::to_string(i), bits[i], zero);
  declare("again", bits[0], 1);
  writer.upscope();
  while (read(&handle, 1)) {
    const uint32_t words = handle ? (bits[handle - 1] + 31) / 32 : 2;
    std::vector<uint32_t> value(words + 1);
    read(value.data(), words);
    const uint64_t low = value[0] | (words > 1 ? static_cast<uint64_t>(value[1]) << 32 : 0);
    if (!handle) writer.emitTimeChange(low);
    else if (words <= 2) writer.emitValueChange(handle, low);
    else writer.emitValueChange(handle, value.data());
  }
  writer.close();
}
