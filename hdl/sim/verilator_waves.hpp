// The writer of waves that Verilator's FST back end uses, in place of the one that comes with it.
//
// Signals are declared by that one (here `Declarations`), to a file without changes. The simulation then only notes what changed, in
// chunks of memory; a thread puts it into the file (fst_changes.hpp). tb/sim/compilers.py includes this after the definition of
// Declarations.
#pragma once
#include <array>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fst_changes.hpp"
#include "wave_clocks.hpp"

// A signal as the simulation knows it: its handle in the file, and how a change of it is noted.
struct Noted {
  enum Kind : uint32_t { BIT, WORD, PAIR, WIDE, DRAWN = WIDE };   // one bit, at most 32, at most 64, more; a clock, at its pin
  static constexpr uint32_t ONE = 4;                // the value of a bit
  static Kind kind(uint32_t bits) { return bits == 1 ? BIT : bits <= 32 ? WORD : bits <= 64 ? PAIR : WIDE; }
  static uint32_t number(uint32_t handle, Kind kind) { return handle << 3 | kind; }
  static uint32_t handle(uint32_t number) { return number >> 3; }
};

// What changed, in words: the number of a signal, a bit in it, otherwise followed by the words of the value. The number with handle 0
// is followed by the two words of a time, at which all further changes are.
class ChangeLog {
 public:
  ChangeLog(const std::string &path, const std::vector<uint32_t> &bits) : path_{path}, changes_{path, bits} {
    uint32_t most = 2;
    for (const uint32_t width : bits) {
      words_.push_back((width + 31) / 32);
      most = std::max(most, words_.back());
    }
    size_ = most + 1 + CHUNK;
    room_ = CHUNK;
    for (Chunk &chunk : chunks_) chunk.words = std::make_unique<uint32_t[]>(size_);
    next_ = chunks_[0].words.get();
    limit_ = next_ + room_;
    thread_ = std::thread{[this] { run(); }};
  }
  // All is in the file. Says what went wrong, if something did: then there is no file.
  ~ChangeLog() {
    hand_over(true);
    thread_.join();
    if (const int error = changes_.close()) std::fprintf(stderr, "%s: %s; removed\n", path_.c_str(), std::strerror(error));
  }
  // All further changes are at this time; nothing new when they are already, or at a later one.
  void at(uint64_t time) {
    if (time < soonest_) return;
    soonest_ = time + 1;
    change(Noted::number(0, Noted::PAIR), time);
  }
  void change(uint32_t number, uint64_t value) {
    switch (number & 3) {
      case Noted::BIT: *next_++ = number | (value & 1) * Noted::ONE; break;
      case Noted::PAIR: next_[2] = static_cast<uint32_t>(value >> 32); [[fallthrough]];
      case Noted::WORD:
        next_[0] = number;
        next_[1] = static_cast<uint32_t>(value);
        next_ += 1 + (number & 3);
        break;
      default: return;   // DRAWN: the pin never moves
    }
    if (next_ >= limit_) hand_over(false);
  }
  void change(uint32_t number, const uint32_t *value) {
    *next_++ = number;
    next_ = std::copy_n(value, words_[Noted::handle(number) - 1], next_);
    if (next_ >= limit_) hand_over(false);
  }

 private:
  static constexpr size_t CHUNK = 1 << 18;   // words of a chunk; it is handed over when these are full
  static constexpr size_t CHUNKS = 32;   // the simulation goes on while a block is packed
  struct Chunk {
    std::unique_ptr<uint32_t[]> words;
    const uint32_t *end = nullptr;   // of what stands in it, while it is the thread's
    bool last = false;
  };

  void hand_over(bool last) {
    std::unique_lock lock{mutex_};
    Chunk &full = chunks_[filled_ % CHUNKS];
    full.end = next_;
    full.last = last;
    filled_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ - written_ < CHUNKS; });
    next_ = chunks_[filled_ % CHUNKS].words.get();
    limit_ = next_ + room_;
  }
  void run() {
    for (bool last = false; !last;) {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return filled_ > written_; });
      const Chunk &full = chunks_[written_ % CHUNKS];
      lock.unlock();
      write(full);
      last = full.last;
      lock.lock();
      written_++;
      changed_.notify_all();
    }
  }
  void write(const Chunk &chunk) {
    for (const uint32_t *word = chunk.words.get(); word < chunk.end;) {
      const uint32_t number = *word++, handle = Noted::handle(number), kind = number & 3;
      if (kind == Noted::BIT) {
        changes_.bit(handle, (number & Noted::ONE) != 0);
      } else if (handle) {
        word = kind == Noted::WORD ? changes_.word(handle, word) : changes_.change(handle, word);
      } else {
        changes_.at(word[0] | static_cast<uint64_t>(word[1]) << 32);
        word += 2;
      }
    }
  }

  const std::string path_;
  FstChanges changes_;             // the thread's, until it is joined
  std::vector<uint32_t> words_;    // of each signal's value
  size_t size_, room_;
  uint64_t soonest_ = 0;           // a time before which nothing can change any more
  uint32_t *next_, *limit_;        // in the chunk that is being filled
  std::array<Chunk, CHUNKS> chunks_;
  size_t filled_ = 0, written_ = 0;   // chunks so far
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

namespace fst {
// With the verbs by which VerilatedFst uses it.
class Writer : Declarations {
 public:
  explicit Writer(const char *path) : Declarations{path}, path_{path} {
    std::error_code error;   // a file that cannot be written is noticed by the log
    std::filesystem::resize_file(path, kSharedBlockHeaderSize + HeaderInfo::total_size, error);   // Declarations appends
    setDate(std::string(25, ' '));   // the same run leaves the same file
    open = this;
  }
  using Declarations::createEnumTable;
  using Declarations::emitEnumTableRef;
  using Declarations::setAttrBegin;
  using Declarations::setAttrEnd;
  using Declarations::setTimecale;
  using Declarations::setWriter;
  using Declarations::setWriterPackType;

  void setScope(Hierarchy::ScopeType type, const std::string &name, const std::string &component) {
    scopes_.push_back(name);
    Declarations::setScope(type, name, component);
  }
  void upscope() {
    scopes_.pop_back();
    Declarations::upscope();
  }
  // Returns the number by which the signal is known here; `alias`: that of one that has the same value.
  Handle createVar(Hierarchy::VarType type, Hierarchy::VarDirection way, uint32_t bits, const std::string &name, Handle alias) {
    if (type == Hierarchy::VarType::VCD_REAL) throw std::runtime_error{"real numbers cannot be written to waves"};
    const auto pin = scopes_.size() == 1 ? pins.find({scopes_.front(), name}) : pins.end();
    if (pin == pins.end() || alias) {
      const Handle handle = declare(type, way, bits, name, Noted::handle(alias));
      return alias ? alias : Noted::number(handle, Noted::kind(bits));
    }
    Handle &clock = clocks_[pin->second.clock];
    if (!clock || !pin->second.hidden) clock = declare(type, way, bits, name, clock);
    return Noted::number(clock, Noted::DRAWN);
  }
  void emitTimeChange(uint64_t time) {
    if (!log_) {
      Declarations::close();
      log_ = std::make_unique<ChangeLog>(path_, bits_);
    }
    log_->at(time);
  }
  void emitValueChange(Handle number, uint64_t value) { log_->change(number, value); }
  void emitValueChange(Handle number, const uint32_t *value) { log_->change(number, value); }
  void draw(uint64_t time, int clock, bool high) {
    emitTimeChange(time);
    if (const Handle handle = clocks_[clock]) log_->change(Noted::number(handle, Noted::BIT), high);
  }
  void flushValueChangeData() {}   // the thread writes by itself
  void close() {
    Declarations::close();
    log_.reset();
    open = nullptr;
  }

  struct Pin { int clock; bool hidden; };
  static inline std::map<std::pair<std::string, std::string>, Pin> pins;   // by component and name
  static inline Writer *open = nullptr;                                    // the one whose clocks are drawn

 private:
  Handle declare(Hierarchy::VarType type, Hierarchy::VarDirection way, uint32_t bits, const std::string &name, Handle same) {
    if (!same) bits_.push_back(bits);
    return Declarations::createVar(type, way, bits, name, same);
  }

  const std::string path_;
  std::vector<std::string> scopes_;   // in which signals are being declared
  std::vector<uint32_t> bits_;        // the width of each signal
  std::map<int, Handle> clocks_;      // the signal of each clock
  std::unique_ptr<ChangeLog> log_;
};
}  // namespace fst

namespace wave_clocks {
void pin(const std::string &component, const std::string &name, int clock, bool hidden) {
  fst::Writer::pins[{component, name}] = {clock, hidden};
}
void level(int64_t time, int clock, bool high) { fst::Writer::open->draw(static_cast<uint64_t>(time), clock, high); }
}  // namespace wave_clocks
