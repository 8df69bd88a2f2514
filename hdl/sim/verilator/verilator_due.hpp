// Clocks with an edge at the next multiple of their period, and the meaning of the words in which clocks report their
// needs.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

constexpr int64_t NEVER = INT64_MAX;
using Words = std::vector<uint64_t>;

// All clocks of one period. `next`: the first multiple of it after now if a clock is due then, otherwise NEVER;
// `index`: of `last`. `due`: one bit per clock, those of a component in one word; `some`: one bit per word of `due`
// with a set bit.
struct Grid {
  Grid(int64_t of, size_t words) : period{of}, due(words), some((words + 63) / 64) {}
  int64_t period, next = NEVER, last = NEVER, index = 0;
  Words due, some;
};
// Return the OR of a word of these grids, and clear it.
inline uint64_t taken(Grid *const *first, Grid *const *end, Words Grid::*words, size_t word) {
  uint64_t bits = 0;
  for (; first != end; first++) bits |= std::exchange(((*first)->*words)[word], 0);
  return bits;
}

// Triggers for each value of a byte.
using Byte = std::array<uint64_t, 256>;
// Return the triggers of a word, whose bytes have the meanings from `of` on.
inline uint64_t meant(const Byte *of, uint32_t word) {
  uint64_t triggers = 0;
  for (; word; word >>= 8, of++) triggers |= (*of)[word & 255];
  return triggers;
}
class Meanings {
 public:
  // Return the meanings of the bytes of a word whose bits have these triggers, from bit 0 on; clocks of one model share
  // them.
  const Byte *of(const Words &bits) {
    std::vector<Byte> &bytes = known_[bits];
    bytes.resize((bits.size() + 7) / 8);
    for (size_t k = 0; k < bits.size(); k++) {
      for (size_t value = 0; value < 256; value++) if (value >> k % 8 & 1) bytes[k / 8][value] |= bits[k];
    }
    return bytes.data();
  }

 private:
  std::map<Words, std::vector<Byte>> known_;
};
