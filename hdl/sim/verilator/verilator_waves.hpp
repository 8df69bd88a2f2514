// Waves of Verilated models: the classes that Verilator's trace code calls, in place of those supplied with it. A model
// compares each of its signals with its last value; changes go directly to the log (change_log.hpp). Kept small,
// because models include this file. Supports only the types in this project's RTL: no real numbers, no events.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "noted.hpp"
#include "verilated.h"
#include "verilated_trace.h"

// Values of the last dump. A signal is identified by its position in this buffer. Functions called for each change are
// compiled once, with the file, because models are partly compiled without optimisation.
class VerilatedFstBuffer {
 public:
  uint32_t *oldp(uint32_t code) { return old_ + code; }
  VL_ATTR_ALWINLINE void chgBit(uint32_t *at, CData value) { if (VL_UNLIKELY(*at != value)) fullBit(at, value); }
  VL_ATTR_ALWINLINE void chgCData(uint32_t *at, CData value, int) { if (VL_UNLIKELY(*at != value)) word(at, value); }
  VL_ATTR_ALWINLINE void chgSData(uint32_t *at, SData value, int) { if (VL_UNLIKELY(*at != value)) word(at, value); }
  VL_ATTR_ALWINLINE void chgIData(uint32_t *at, IData value, int) { if (VL_UNLIKELY(*at != value)) word(at, value); }
  VL_ATTR_ALWINLINE void chgQData(uint32_t *at, QData value, int) {
    QData before;
    std::memcpy(&before, at, sizeof before);
    if (VL_UNLIKELY(before != value)) quad(at, value);
  }
  VL_ATTR_ALWINLINE void chgWData(uint32_t *at, const WData *value, int bits) {
    if (VL_UNLIKELY(std::memcmp(at, value, sizeof *at * VL_WORDS_I(bits)))) fullWData(at, value, bits);
  }
  void fullBit(uint32_t *at, CData value);
  void fullCData(uint32_t *at, CData value, int) { word(at, value); }
  void fullSData(uint32_t *at, SData value, int) { word(at, value); }
  void fullIData(uint32_t *at, IData value, int) { word(at, value); }
  void fullQData(uint32_t *at, QData value, int) { quad(at, value); }
  void fullWData(uint32_t *at, const WData *value, int bits);

 private:
  friend class VerilatedFst;
  void word(uint32_t *at, IData value);
  void quad(uint32_t *at, QData value);

  uint32_t *old_ = nullptr, *numbers_ = nullptr;   // by code: last value and its encoding
  uint32_t *next_ = nullptr;                       // in the log
};

// The models of a run, and the wave file.
class VerilatedFst {
 public:
  using Buffer = VerilatedFstBuffer;
  VerilatedFst();
  ~VerilatedFst();
  void open(const std::string &path);
  // Write the changes since the last dump at this time, which is later.
  void dump(uint64_t time);
  // A clock rises or falls: wave_clocks.hpp.
  void draw(uint64_t time, int clock, bool high);
  void close();

  // ---------------------------------------------------------------- called when a model is added
  void addModel(VerilatedModel *model) { precision_ = model->contextp()->timeprecision(); }
  void addInitCb(void (*call)(void *, VerilatedFst *, uint32_t), void *model, const std::string &, bool, uint32_t codes) {
    models_.push_back({call, model, codes});
  }
  void addConstCb(void (*call)(void *, Buffer *), uint32_t, void *model) { whole_.push_back({call, model}); }
  void addFullCb(void (*call)(void *, Buffer *), uint32_t, void *model) { whole_.push_back({call, model}); }
  void addChgCb(void (*call)(void *, Buffer *), uint32_t, void *model) { changed_.push_back({call, model}); }
  void addCleanupCb(void (*call)(void *, VerilatedFst *), void *model) { seen_.push_back({call, model}); }

  // ---------------------------------------------------------------- called by a model whose signals are declared
  using Way = VerilatedTraceSigDirection;
  using Kind = VerilatedTraceSigKind;
  using Data = VerilatedTraceSigType;
  void pushPrefix(const char *name, VerilatedTracePrefixType type, int left = 0, int right = 0);
  void popPrefix();
  void declDTypeEnum(int type, const char *name, uint32_t elements, unsigned bits, const char **names, const char **values);
  // `behind`: suffix of the name, `[3]` in an array and ` [7:0]` for a bus.
  void declare(uint32_t code, const char *name, int type, Way way, Kind kind, Data data, const std::string &behind, int bits);
  static std::string bus(int left, int right) { return " [" + std::to_string(left) + ":" + std::to_string(right) + "]"; }
  static std::string element(int index) { return "[" + std::to_string(index) + "]"; }
  static int width(int left, int right) { return (left > right ? left - right : right - left) + 1; }

 private:
  struct Model { void (*call)(void *, VerilatedFst *, uint32_t); void *model; uint32_t codes; };
  struct Dump { void (*call)(void *, Buffer *); void *model; };
  struct Seen { void (*call)(void *, VerilatedFst *); void *model; };
  struct File;

  int precision_ = -12;
  std::vector<Model> models_;
  std::vector<Dump> whole_, changed_;
  std::vector<Seen> seen_;
  std::vector<uint32_t> old_, numbers_;   // the buffer's
  Buffer buffer_;
  std::unique_ptr<File> file_;
};

#define VL_TRACE_PUSH_PREFIX(trace, name, type, left, right) trace->pushPrefix(name, type, left, right);
#define VL_TRACE_POP_PREFIX(trace) trace->popPrefix();
#define VL_TRACE_DECL_BIT(trace, code, file, name, type, way, kind, data) \
  trace->declare(code, name, type, way, kind, data, "", 1)
#define VL_TRACE_DECL_BUS(trace, code, file, name, type, way, kind, data, left, right) \
  trace->declare(code, name, type, way, kind, data, trace->bus(left, right), trace->width(left, right))
#define VL_TRACE_DECL_QUAD VL_TRACE_DECL_BUS
#define VL_TRACE_DECL_WIDE VL_TRACE_DECL_BUS
#define VL_TRACE_DECL_BIT_ARRAY(trace, code, file, name, type, way, kind, data, index) \
  trace->declare(code, name, type, way, kind, data, trace->element(index), 1)
#define VL_TRACE_DECL_BUS_ARRAY(trace, code, file, name, type, way, kind, data, index, left, right) \
  trace->declare(code, name, type, way, kind, data, trace->element(index) + trace->bus(left, right), trace->width(left, right))
#define VL_TRACE_DECL_QUAD_ARRAY VL_TRACE_DECL_BUS_ARRAY
#define VL_TRACE_DECL_WIDE_ARRAY VL_TRACE_DECL_BUS_ARRAY

// Argument of a model's `trace`.
class VerilatedFstC : public VerilatedTraceBaseC {
 public:
  bool isOpen() const override { return open_; }
  VerilatedFst *spTrace() { return &trace_; }
  void open(const char *path) {
    trace_.open(path);
    open_ = true;
  }
  void dump(uint64_t time) { trace_.dump(time); }
  void close() { trace_.close(); }

 private:
  VerilatedFst trace_;
  bool open_ = false;
};
