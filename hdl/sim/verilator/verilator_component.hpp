// Component of a cluster: a model, its clocks, and its outgoing cables.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilator_due.hpp"
#ifdef SANLAB_PUBLIC
#include "verilator_public.hpp"
#else
#include "verilator_parts.hpp"
#endif
extern "C" {
#include "doorway.h"
}

struct Component;
struct Clock {
  const IData *wants;
  CData *refresh;                     // high while sim_cycle receives the index
  uint64_t rise, renew, gated_rises;  // triggers that its edge sets, a rise of its pin refresh, the edges of all of its gated clocks
  uint64_t kicked;                    // and of those that need a mandatory edge
  int64_t last;                       // time of its last edge
  Grid *grid;
  const Byte *needs;                  // meaning of the bytes of its word
  int number;
  size_t word;                        // its position in the grid's `due`, and that word's position in `some`
  uint64_t bit, word_bit;
  uint64_t *due, *some;
  Component *owner;
  std::vector<uint64_t> gated;        // the triggers of each of its gated clocks
  uint64_t needed() const { return meant(needs, *wants & 0x7fffffffu); }
};
// `receiver`: the triggers of the gated clock that samples the cable, of the clock `sampled`.
struct Cable { const SData *tx; SData *in; uint64_t receiver; int clock; Clock *sampled; };
struct Component {
  Evaluated model;
  CData *rst, *faults;
  dw_component numbers;
  int first, clocks, gated;    // its clocks; number of gated clocks
  uint64_t given;              // triggers of gated clocks that get the next edge of their clock, needed or not
  uint64_t receivers;          // triggers of all gated clocks that sample cables
  bool changed;                // an input other than a clock
  std::vector<Cable> cables;
  std::string name;            // in waves
  uint64_t senders = 0, sent = 0;            // one trigger for each cable; those of them that its last edges set
  std::array<uint8_t, 64> cable_at = {};     // which cable, by the number of the trigger
  const Clock *own = nullptr;  // the first of its clocks
  Clock *const *at = nullptr;  // its clocks by their bits in their word of `due`, and which these are
  uint64_t bits = 0;
};
