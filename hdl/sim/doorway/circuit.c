// Circuits in Python in the slots of FPGA cards (sim_circuit.sv): the words of a message on their way to Python, and the
// orders of a circuit on their way to its slot.
//
// Python gives all orders up to the next one that it must await in a single turn. The slot fetches them one by one at its
// clock edges, so that Python runs once a message.
#include <stdlib.h>
#include <string.h>

#include "doorway.h"

enum { CIRCUIT_PLACES = 256 };                        // circuits in slots of a card, of all images
enum { EVENT_LOADED = 40, EVENT_UNLOADED = 41, EVENT_COMPLETE = 42 };   // a: place, b: bytes
enum { ORDER_OP = 60, ORDER_COUNT = 32 };             // bits of an order for RTL: op, number of words, value below
enum { WORD_BYTES = 32, WORD_LAST = 35 };             // bits of a word for RTL: bytes, last, data below

typedef struct { uint8_t *data; size_t begin, end, room; } buffer;
typedef struct { int64_t time; int op; uint32_t value; size_t bytes; } order;
typedef struct {
  buffer in, out;                                     // words for Python; data of all pending orders
  order *orders;
  size_t first, last, room;                           // pending orders
  size_t left;                                        // bytes of the present order that are not yet in the slot
  uint32_t arguments[4];
} circuit;
static circuit *cards[DW_UNITS];

static circuit *circuit_at(int unit, int place) {
  if (!cards[unit]) cards[unit] = calloc(CIRCUIT_PLACES, sizeof **cards);
  return &cards[unit][place];
}
static void append(buffer *b, const void *data, size_t bytes) {
  if (b->begin == b->end) b->begin = b->end = 0;
  if (b->end + bytes > b->room) b->data = realloc(b->data, b->room = 2 * (b->end + bytes) + 256);
  if (bytes) memcpy(b->data + b->end, data, bytes);
  b->end += bytes;
}

// ---------------------------------------------------------------- calls from Python
// Append an order. `value`: clocks, or the first word of an access of the bank. `bytes`: length of `data`, or of a read.
void dw_circuit_order(int unit, int place, int op, uint32_t value, int64_t bytes, const uint8_t *data) {
  circuit *c = circuit_at(unit, place);
  if (c->first == c->last) c->first = c->last = 0;
  if (c->last == c->room) c->orders = realloc(c->orders, (c->room = 2 * c->room + 16) * sizeof *c->orders);
  c->orders[c->last++] = (order){dw_turn[0], op, value, (size_t)bytes};
  if (data) append(&c->out, data, (size_t)bytes);
}
// Bytes that arrived since the last call, and the arguments of their message.
const uint8_t *dw_circuit_data(int unit, int place) { return circuit_at(unit, place)->in.data; }
const uint32_t *dw_circuit_arguments(int unit, int place) { return circuit_at(unit, place)->arguments; }

// ---------------------------------------------------------------- calls from RTL
// The circuit is configured (1), or is no longer (0): nothing of it remains.
void san_circuit_live(long long now, int unit, int place, int live) {
  circuit *c = circuit_at(unit, place);
  c->in.begin = c->in.end = c->out.begin = c->out.end = c->first = c->last = c->left = 0;
  san_event(now, unit, live ? EVENT_LOADED : EVENT_UNLOADED, place, 0);
}
// Return the next order, {op 4, words 28, value 32}, or 0.
long long san_circuit_order(long long now, int unit, int place) {
  circuit *c = circuit_at(unit, place);
  if (c->first == c->last || c->orders[c->first].time >= now) return 0;
  const order o = c->orders[c->first++];
  c->left = o.bytes;
  return (long long)((uint64_t)o.op << ORDER_OP | (uint64_t)((o.bytes + 3) / 4) << ORDER_COUNT | o.value);
}
// Return the next word of the present order's data, {last 1, bytes 3, data 32}. Without data: the end of an empty message.
long long san_circuit_give(int unit, int place) {
  circuit *c = circuit_at(unit, place);
  const size_t bytes = c->left < 4 ? c->left : 4;
  uint32_t word = 0;
  if (bytes) memcpy(&word, c->out.data + c->out.begin, bytes);
  c->out.begin += bytes;
  c->left -= bytes;
  return (long long)((uint64_t)(c->left == 0) << WORD_LAST | (uint64_t)bytes << WORD_BYTES | word);
}
void san_circuit_take(int unit, int place, int bytes, int data) { append(&circuit_at(unit, place)->in, &data, (size_t)bytes); }
// A message or a read is complete. Python reads the data in this turn.
void san_circuit_complete(long long now, int unit, int place, long long low, long long high) {
  circuit *c = circuit_at(unit, place);
  memcpy(c->arguments, &low, 8);
  memcpy(c->arguments + 2, &high, 8);
  san_event(now, unit, EVENT_COMPLETE, place, (long long)c->in.end);
  c->in.begin = c->in.end;
}
