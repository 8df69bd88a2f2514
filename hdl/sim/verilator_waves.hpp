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
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fst_changes.hpp"

// What changed, in words: a handle and the words of its value; or 0 and the two words of a time, at which all further changes are.
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
  void at(uint64_t time) { put(0, time, 2); }
  void change(uint32_t handle, uint64_t value) { put(handle, value, words_[handle - 1]); }
  void change(uint32_t handle, const uint32_t *value) {
    const uint32_t words = words_[handle - 1];
    *next_++ = handle;
    next_ = std::copy_n(value, words, next_);
    if (next_ >= limit_) hand_over(false);
  }

 private:
  static constexpr size_t CHUNK = 1 << 18;   // words of a chunk; it is handed over when these are full
  static constexpr size_t CHUNKS = 8;
  struct Chunk {
    std::unique_ptr<uint32_t[]> words;
    const uint32_t *end = nullptr;   // of what stands in it, while it is the thread's
    bool last = false;
  };

  void put(uint32_t handle, uint64_t value, uint32_t words) {
    next_[0] = handle;
    next_[1] = static_cast<uint32_t>(value);
    next_[2] = static_cast<uint32_t>(value >> 32);   // behind the record when the value is one word
    next_ += 1 + words;
    if (next_ >= limit_) hand_over(false);
  }
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
      const uint32_t handle = *word++;
      if (handle) {
        word = changes_.change(handle, word);
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
  }
  using Declarations::createEnumTable;
  using Declarations::emitEnumTableRef;
  using Declarations::setAttrBegin;
  using Declarations::setAttrEnd;
  using Declarations::setScope;
  using Declarations::setTimecale;
  using Declarations::setWriter;
  using Declarations::setWriterPackType;
  using Declarations::upscope;

  Handle createVar(Hierarchy::VarType type, Hierarchy::VarDirection way, uint32_t bits, string_view_pair name, Handle alias) {
    if (type == Hierarchy::VarType::VCD_REAL) throw std::runtime_error{"real numbers cannot be written to waves"};
    if (!alias) bits_.push_back(bits);
    return Declarations::createVar(type, way, bits, name, alias);
  }
  void emitTimeChange(uint64_t time) {
    if (!log_) {
      Declarations::close();
      log_ = std::make_unique<ChangeLog>(path_, bits_);
    }
    log_->at(time);
  }
  void emitValueChange(Handle handle, uint64_t value) { log_->change(handle, value); }
  void emitValueChange(Handle handle, const uint32_t *value) { log_->change(handle, value); }
  void flushValueChangeData() {}   // the thread writes by itself
  void close() {
    Declarations::close();
    log_.reset();
  }

 private:
  const std::string path_;
  std::vector<uint32_t> bits_;   // the width of each signal
  std::unique_ptr<ChangeLog> log_;
};
}  // namespace fst
