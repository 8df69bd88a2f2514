// Value changes of the waves, noted by the simulation in chunks of memory; a thread writes them to the file
// (fst_changes.hpp).
#pragma once
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fst_changes.hpp"
#include "noted.hpp"

class ChangeLog {
 public:
  // `bits`: the width of each signal, by its handle from 1 on.
  ChangeLog(const std::string &path, const std::vector<uint32_t> &bits) : path_{path}, changes_{path, bits} {
    for (const uint32_t width : bits) all_ += 2 + (width + 31) / 32;   // one more: for a pin behind which there is none
    for (Chunk &chunk : chunks_) chunk.words = std::make_unique<uint32_t[]>(CHUNK + all_);
    next = chunks_[0].words.get();
    limit_ = next + CHUNK;
    thread_ = std::thread{[this] { run(); }};
  }
  // Complete the file. On an error the error is reported, and there is no file.
  ~ChangeLog() {
    hand_over(true);
    thread_.join();
    if (const int error = changes_.close()) std::fprintf(stderr, "%s: %s; removed\n", path_.c_str(), std::strerror(error));
  }
  // Make room for a time and a change of each signal.
  void room() {
    if (next >= limit_) hand_over(false);
  }
  // Set the time of all further changes; no effect if it is not later than the current one.
  void at(uint64_t time) {
    if (time < soonest_) return;
    soonest_ = time + 1;
    next[0] = Noted::TIME;
    next[1] = static_cast<uint32_t>(time);
    next[2] = static_cast<uint32_t>(time >> 32);
    next += 3;
    room();
  }

  uint32_t *next;   // address of the next record

 private:
  static constexpr size_t CHUNK = 1 << 18;   // words of a chunk, which is passed to the packer when full
  static constexpr size_t CHUNKS = 32;       // number of chunks: the simulation continues while one is packed
  struct Chunk {
    std::unique_ptr<uint32_t[]> words;
    const uint32_t *end = nullptr;   // parts of its content while the thread owns it
    bool last = false;
  };

  void hand_over(bool last) {
    std::unique_lock lock{mutex_};
    Chunk &full = chunks_[filled_ % CHUNKS];
    full.end = next;
    full.last = last;
    filled_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ - written_ < CHUNKS; });
    next = chunks_[filled_ % CHUNKS].words.get();
    limit_ = next + CHUNK;
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
      const uint32_t number = *word++, handle = Noted::handle(number);
      if (!handle) {
        if (number != Noted::TIME) continue;   // a pin that shows a clock
        changes_.at(word[0] | static_cast<uint64_t>(word[1]) << 32);
        word += 2;
      } else if (Noted::is_bit(number)) {
        changes_.bit(handle, Noted::level(number));
      } else {
        word = changes_.change(handle, word);
      }
    }
  }

  const std::string path_;
  FstChanges changes_;   // the thread's, until it is joined
  size_t all_ = 3;       // words of a time and a change of each signal
  uint32_t *limit_;
  uint64_t soonest_ = 0;   // a time before which no further change can occur
  std::array<Chunk, CHUNKS> chunks_;
  size_t filled_ = 0, written_ = 0;   // chunks so far
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};
