// Passes the standard input to the writer of waves, like a Verilated model and the loop that drives clocks: the number
// of signals and the width of each, then changes, in 32-bit words. A change is the number of a signal, from 1 on, and
// its value; or 0 and the two words of a time; or CLOCK and its level.
#define VM_TRACE_FST 1
#include "verilator_waves.cpp"

// The writer needs no other part of Verilator's runtime.
void Verilated::addExitCb(VoidPCb, void *) {}
void Verilated::removeExitCb(VoidPCb, void *) {}

static constexpr uint32_t CLOCK = UINT32_MAX;

static bool read(uint32_t *to, size_t words) { return std::fread(to, sizeof *to, words, stdin) == words; }

// Model with a clock, a part with its own clock, and signals, which change by the pending changes.
struct Model {
  struct Change { uint32_t signal; std::vector<uint32_t> value; };
  std::vector<uint32_t> bits, codes;
  std::vector<Change> pending;
  static constexpr uint32_t CLK = 1, GATED_CLK = 2;   // codes

  static void declare(void *self, VerilatedFst *trace, uint32_t) {
    auto &model = *static_cast<Model *>(self);
    const auto add = [trace](uint32_t code, const std::string &name, int bits) {
      trace->declare(code, name.c_str(), -1, VerilatedFst::Way::NONE, VerilatedFst::Kind::VAR, VerilatedFst::Data::LOGIC, "", bits);
    };
    trace->pushPrefix("top", VerilatedTracePrefixType::SCOPE_MODULE);
    add(CLK, "clk_0", 1);
    add(GATED_CLK, "gated_clk_0", 1);
    for (size_t i = 0; i < model.bits.size(); i++) add(model.codes[i], "s" + std::to_string(i), static_cast<int>(model.bits[i]));
    add(model.codes[0], "again", static_cast<int>(model.bits[0]));
    trace->pushPrefix("unit", VerilatedTracePrefixType::SCOPE_MODULE);
    add(CLK, "clk", 1);
    add(GATED_CLK, "send_clk", 1);
    trace->popPrefix();
    trace->popPrefix();
  }
  static void whole(void *self, VerilatedFst::Buffer *buffer) {
    for (const uint32_t pin : {CLK, GATED_CLK}) buffer->fullBit(buffer->oldp(pin), 0);
    changed(self, buffer);
  }
  static void changed(void *self, VerilatedFst::Buffer *buffer) {
    auto &model = *static_cast<Model *>(self);
    for (const auto &[signal, value] : model.pending) {
      const int bits = static_cast<int>(model.bits[signal]);
      uint32_t *const at = buffer->oldp(model.codes[signal]);
      if (bits == 1) buffer->fullBit(at, static_cast<CData>(value[0]));
      else if (bits <= 32) buffer->fullIData(at, value[0], bits);
      else if (bits <= 64) buffer->fullQData(at, value[0] | static_cast<uint64_t>(value[1]) << 32, bits);
      else buffer->fullWData(at, value.data(), bits);
    }
    model.pending.clear();
  }
};

int main(int, char **argv) {
  Model model;
  uint32_t count, number, codes = Model::GATED_CLK + 1;
  read(&count, 1);
  model.bits.resize(count);
  read(model.bits.data(), count);
  for (const uint32_t width : model.bits) {
    model.codes.push_back(codes);
    codes += (width + 31) / 32;
  }
  wave_clocks::pin("top", "clk_0", 0, false);
  wave_clocks::pin("top", "gated_clk_0", 0, true);
  VerilatedFst trace;
  trace.addInitCb(Model::declare, &model, "", false, codes);
  trace.addFullCb(Model::whole, 0, &model);
  trace.addChgCb(Model::changed, 0, &model);
  trace.open(argv[1]);
  uint64_t now = 0;
  std::vector<uint32_t> levels;
  const auto end_of_time = [&] {
    if (!model.pending.empty()) trace.dump(now);
    for (const uint32_t level : levels) wave_clocks::level(static_cast<int64_t>(now), 0, level);
    levels.clear();
  };
  while (read(&number, 1)) {
    const uint32_t words = number == CLOCK ? 1 : number ? (model.bits[number - 1] + 31) / 32 : 2;
    std::vector<uint32_t> value(words);
    read(value.data(), words);
    if (!number) {
      end_of_time();
      now = value[0] | static_cast<uint64_t>(value[1]) << 32;
    } else if (number == CLOCK) {
      levels.push_back(value[0]);
    } else {
      model.pending.push_back({number - 1, value});
    }
  }
  end_of_time();
  trace.close();
}
