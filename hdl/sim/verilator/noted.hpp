// How a change of a signal is noted: the signal's number, and the words of the value behind it; a bit is in the number itself.
#pragma once
#include <cstdint>

namespace Noted {
constexpr uint32_t BIT = 1;   // of a number: its signal has one bit
constexpr uint32_t ONE = 2;   // which is 1
constexpr uint32_t TIME = 0;  // this and two words: the time of all that follows
constexpr uint32_t number(uint32_t handle, uint32_t bits) { return handle << 2 | (bits == 1 ? BIT : 0); }
constexpr uint32_t handle(uint32_t number) { return number >> 2; }
constexpr bool is_bit(uint32_t number) { return number & BIT; }
constexpr uint32_t level(uint32_t number) { return (number & ONE) != 0; }
// The number of a pin that shows a clock: what the model tells of it is left out.
constexpr uint32_t DRAWN = BIT;
}  // namespace Noted
