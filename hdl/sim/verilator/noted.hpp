// Encoding of a noted change: the signal's number, followed by the words of the value; the value of a one-bit signal is
// in the number itself.
#pragma once
#include <cstdint>

namespace Noted {
constexpr uint32_t BIT = 1;   // flag of a number: its signal has one bit
constexpr uint32_t ONE = 2;   // flag of a one-bit change: the value is 1
constexpr uint32_t TIME = 0;  // marker followed by two words: time of all following changes
constexpr uint32_t number(uint32_t handle, uint32_t bits) { return handle << 2 | (bits == 1 ? BIT : 0); }
constexpr uint32_t handle(uint32_t number) { return number >> 2; }
constexpr bool is_bit(uint32_t number) { return number & BIT; }
constexpr uint32_t level(uint32_t number) { return (number & ONE) != 0; }
// Number of a pin that shows a clock: changes that the model reports for it are ignored.
constexpr uint32_t DRAWN = BIT;
}  // namespace Noted
