// Which clocks have an edge at the next multiple of their period, and what the words stand for in which clocks say what they need.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

constexpr int64_t NEVER = INT64_MAX;
using Words = std::vector<uint64_t>;

// All clocks of one period. `next`: the first multiple of it after now when some clock is due then, else NEVER; `index`: of `last`.
// `due`: a bit a clock, those of a component in one word; `some`: a bit a word of `due` that has any.
struct Grid {
  Grid(int64_t of, size_t words) : period{of}, due(words), some((words + 63) / 64) {}
  int64_t period, next = NEVER, last = NEVER, index = 0;
  Words due, some;
};
// A word of these grids together, which they no longer have.
inline uint64_t taken(Grid *const *first, Grid *const *end, Words Grid::*words, size_t word) {
  uint64_t bits = 0;
  for (; first != end; first++) bits |= std::exchange(((*first)->*words)[word], 0);
  return bits;
}

// The triggers that the bits of a byte stand for, by its value.
using Byte = std::array<uint64_t, 256>;
// Those of a word, whose bytes have the meanings from `of` on.
inline uint64_t meant(const Byte *of, uint32_t word) {
  uint64_t triggers = 0;
  for (; word; word >>= 8, of++) triggers |= (*of)[word & 255];
  return triggers;
}
class Meanings {
 public:
  // Of the bytes of a word whose bits have these triggers, from bit 0 on; clocks of one model share them.
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
