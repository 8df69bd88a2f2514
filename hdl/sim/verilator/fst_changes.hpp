// Value changes of an FST file: blocks appended to a file whose signals are already declared.
//
// A block has the values at its start, then for each signal its changes one after another (number of time steps since
// the previous one, and the value), packed with LZ4, and the times of the steps. Each change is therefore written to
// its final place, after the last one of its signal. The header counts the blocks after each of them, so the file of a
// run that ends early can be read. The format is defined by its first writer, GTKWave's fstapi.c; names are those of
// libfstwriter.
#pragma once
#include <lz4.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fstcpp/fstcpp_file.h"

class FstChanges {
 public:
  // `bits`: the width of each signal, in the order of their handles, which begin with 1.
  FstChanges(const std::string &path, const std::vector<uint32_t> &bits) : path_{path}, file_{std::fopen(path.c_str(), "r+b")} {
    size_t words = 0;
    for (const uint32_t width : bits) {
      signals_.push_back({nullptr, 0, 0, 0, width, words});
      words += (width + 31) / 32;
    }
    values_.assign(words, 0);
    for (const Signal &signal : signals_) initial_.append(signal.bits, 'x');
    if (!file_) failed_ = errno;
  }
  ~FstChanges() {
    for (const Signal &signal : signals_) std::free(signal.data);
  }
  FstChanges(const FstChanges &) = delete;
  FstChanges &operator=(const FstChanges &) = delete;

  // Set the time of the following changes, which is later than all earlier ones.
  void at(uint64_t time) {
    if (bytes_ >= BLOCK) write_block();
    times_.push_back(time);
  }
  // Note a one-bit value.
  void bit(uint32_t handle, uint32_t value) {
    note(signals_[handle - 1], &value, 1, [value](uint8_t *to, uint64_t since) { return leb(to, since << 2 | value << 1); });
  }
  // Note a value of 2 or more bits, least significant word first; returns the word after it.
  const uint32_t *change(uint32_t handle, const uint32_t *value) {
    Signal &signal = signals_[handle - 1];
    const uint32_t bits = signal.bits, words = (bits + 31) / 32;
    if (words == 1) note(signal, value, 1, [=](uint8_t *to, uint64_t since) { return big_endian(leb(to, since << 1), value, bits, 0); });
    else note(signal, value, words, [=](uint8_t *to, uint64_t since) { return big_endian(leb(to, since << 1), value, bits, words - 1); });
    return value + words;
  }
  // Write the rest. Returns 0, or the error number for which the incomplete file was removed.
  int close() {
    if (!times_.empty()) write_block();
    if (file_ && std::fclose(file_) && !failed_) failed_ = errno;
    file_ = nullptr;
    if (failed_) std::remove(path_.c_str());
    return failed_;
  }

 private:
  struct Signal {
    uint8_t *data;             // changes of this signal in the block
    uint32_t size, capacity;   // bytes of it
    uint32_t step, bits;       // time of its last change; its width
    size_t value;              // position of its value in `values_`
  };
  using Bytes = std::vector<uint8_t>;
  static constexpr size_t BLOCK = 32 << 20;   // bytes of changes, before they are packed

  static uint8_t *leb(uint8_t *to, uint64_t value) {
    for (; value >> 7; value >>= 7) *to++ = static_cast<uint8_t>(value | 0x80);
    *to++ = static_cast<uint8_t>(value);
    return to;
  }
  // Note a change after the last one of its signal; `append` writes it, at most 13 bytes besides the words of the
  // value.
  template <class Append> void note(Signal &signal, const uint32_t *value, uint32_t words, Append append) {
    const uint32_t step = static_cast<uint32_t>(times_.size()) - 1, most = 5 + 4 * words + 8;
    if (signal.capacity - signal.size < most) grow(signal, most);
    std::copy_n(value, words, &values_[signal.value]);
    const uint8_t *end = append(signal.data + signal.size, step - std::exchange(signal.step, step));
    const uint32_t size = static_cast<uint32_t>(end - signal.data);
    bytes_ += size - std::exchange(signal.size, size);
  }
  // Write the bits, most significant first, the last byte padded with zeros. May write up to seven bytes beyond the
  // returned pointer. `word`: the last word of the value.
  static uint8_t *big_endian(uint8_t *to, const uint32_t *value, uint32_t bits, uint32_t word) {
    const uint32_t left = bits - 32 * word;   // bits of the first word
    uint64_t high = value[word];
    while (word--) {
      const uint32_t next = value[word];
      put(to, static_cast<uint32_t>((high << 32 | next) >> left));
      to += 4;
      high = next;
    }
    put(to, static_cast<uint32_t>(high << (32 - left)));
    return to + (left + 7) / 8;
  }
  template <class Number> static void put(uint8_t *to, Number number) {
    for (size_t i = 0; i < sizeof number; i++) to[i] = static_cast<uint8_t>(number >> 8 * (sizeof number - 1 - i));
  }
  static void append(Bytes &to, uint64_t number) {
    to.resize(to.size() + 8);
    put(&to[to.size() - 8], number);
  }
  static void append_leb(Bytes &to, uint64_t number) {
    uint8_t bytes[10];
    to.insert(to.end(), bytes, leb(bytes, number));
  }
  static void append_signed_leb(Bytes &to, int64_t number) {
    for (;; number >>= 7) {
      const uint8_t low = number & 0x7F;
      const bool last = number >> 6 == 0 || number >> 6 == -1;
      to.push_back(last ? low : low | 0x80);
      if (last) return;
    }
  }
  // Pack with zlib if that is shorter; returns the number of bytes.
  static size_t append_packed(Bytes &to, const void *from, size_t size) {
    const size_t begin = to.size();
    uLongf packed = compressBound(size);
    to.resize(begin + packed);
    compress2(&to[begin], &packed, static_cast<const Bytef *>(from), size, 4);
    if (packed >= size) std::memcpy(&to[begin], from, packed = size);
    to.resize(begin + packed);
    return packed;
  }
  static void grow(Signal &signal, uint32_t more) {
    signal.capacity = std::bit_ceil(std::max(signal.size + more, 64u));
    signal.data = static_cast<uint8_t *>(std::realloc(signal.data, signal.capacity));
    if (!signal.data) std::abort();
  }

  void write_block() {
    Bytes &block = block_;
    block.assign(1, static_cast<uint8_t>(fst::BlockType::WAVE_DATA_VERSION3));
    append(block, 0);   // length, known at the end only
    append(block, times_.front());
    append(block, times_.back());
    append(block, bytes_);
    append_initial(block);
    append_times_behind(append_changes(block), block);
    put(&block[1], static_cast<uint64_t>(block.size() - 1));
    if (!blocks_++) first_ = times_.front();
    write(block);
    begin_next();
  }
  void append_initial(Bytes &block) const {
    Bytes packed;
    append_packed(packed, initial_.data(), initial_.size());
    append_leb(block, initial_.size());
    append_leb(block, packed.size());
    append_leb(block, signals_.size());
    block.insert(block.end(), packed.begin(), packed.end());
  }
  // Return for each signal the location of its changes: 0 without changes, the distance from those of the previous
  // signal, or, negative, the handle of a signal with the same changes.
  std::vector<int64_t> append_changes(Bytes &block) const {
    append_leb(block, signals_.size());
    block.push_back('4');   // LZ4
    std::vector<int64_t> places(signals_.size());
    std::unordered_map<std::string_view, int64_t> known;
    size_t last = block.size() - 1;
    for (size_t i = 0; i < signals_.size(); i++) {
      const Signal &signal = signals_[i];
      if (!signal.size) continue;
      const std::string_view changes{reinterpret_cast<const char *>(signal.data), signal.size};
      if (const auto [same, is_new] = known.emplace(changes, static_cast<int64_t>(i + 1)); !is_new) {
        places[i] = -same->second;
        continue;
      }
      places[i] = static_cast<int64_t>(block.size() - last);
      last = block.size();
      append_changes_of(signal, block);
    }
    return places;
  }
  // Pack if that is shorter, after the unpacked size; otherwise after a zero.
  static void append_changes_of(const Signal &signal, Bytes &block) {
    const int size = static_cast<int>(signal.size), bound = LZ4_compressBound(size);
    const size_t begin = block.size();
    append_leb(block, signal.size);
    const size_t data = block.size();
    block.resize(data + static_cast<size_t>(bound));
    const auto *from = reinterpret_cast<const char *>(signal.data);
    const int packed = LZ4_compress_default(from, reinterpret_cast<char *>(&block[data]), size, bound);
    block.resize(data + static_cast<size_t>(packed));
    if (packed < size) return;
    block.resize(begin);
    block.push_back(0);
    block.insert(block.end(), signal.data, signal.data + signal.size);
  }
  void append_times_behind(const std::vector<int64_t> &places, Bytes &block) const {
    const size_t begin = block.size();
    int64_t same = 0;
    for (size_t i = 0; i < places.size();) {
      const int64_t place = places[i];
      size_t run = 1;
      if (!place) {
        while (i + run < places.size() && !places[i + run]) run++;
        append_leb(block, run << 1);
      } else {
        append_signed_leb(block, place == same ? 1 : place * 2 + 1);
        if (place < 0) same = place;
      }
      i += run;
    }
    append(block, block.size() - begin);
    Bytes steps;
    uint64_t last = 0;
    for (const uint64_t time : times_) append_leb(steps, time - std::exchange(last, time));
    const size_t packed = append_packed(block, steps.data(), steps.size());
    append(block, steps.size());
    append(block, packed);
    append(block, times_.size());
  }
  // Write the block at the end, then the times and number of blocks in the header.
  void write(const Bytes &block) {
    using Offset = fst::HeaderInfo::Offset;
    Bytes times, blocks;
    append(times, first_);
    append(times, times_.back());
    append(blocks, blocks_);
    write_at(0, SEEK_END, block);
    write_at(fst::kSharedBlockHeaderSize + Offset::start_time, SEEK_SET, times);
    write_at(fst::kSharedBlockHeaderSize + Offset::num_wave_data_blocks, SEEK_SET, blocks);
  }
  void write_at(long place, int whence, const Bytes &bytes) {
    if (failed_) return;
    errno = 0;
    const bool done = !std::fseek(file_, place, whence) && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
    if (!done || std::fflush(file_)) failed_ = errno ? errno : EIO;
  }
  void begin_next() {
    initial_.clear();
    for (Signal &signal : signals_) {
      const uint32_t *value = &values_[signal.value];
      for (uint32_t i = signal.bits; i--;) initial_.push_back((value[i / 32] >> i % 32) & 1 ? '1' : '0');
      signal.size = signal.step = 0;
    }
    times_.clear();
    bytes_ = 0;
  }

  const std::string path_;
  std::FILE *file_;
  int failed_ = 0;
  std::vector<Signal> signals_;
  std::vector<uint32_t> values_;
  std::string initial_;
  std::vector<uint64_t> times_;
  size_t bytes_ = 0;
  Bytes block_;   // block being written
  uint64_t blocks_ = 0, first_ = 0;
};
