// Numbers of messages at the places of NIC memories at which their bytes begin (pymodels/messages.py). Software notes
// them there. Records of hardware take them over by the address that they name, and a packet that arrives is noted under
// a number of its own, which readers of the trace replace by that of its message (tb/report/numbers.py).
#include "doorway.h"

#include <stdlib.h>

enum { PLACE = 2, CARD_PLACE = 3, CARD_PLACES = 1 << 19, MOST_NODES = 4096, COMMANDS = 4096 };   // pymodels/messages.py
enum { PARTS = 16, NET_SEND = 3, NET_RECV = 4, HOST_DMA = 5 };   // pymodels/trace.py
enum { TX_START = 0x100, RX_HEAD = 0x103, DMA_START = 0x110, DMA_DONE = 0x111, MOVE_START = 0x112, MOVE_DONE = 0x113, CARD_TAKE = 0x148, CARD_GIVE = 0x149 };
static struct { uint64_t *at, places, next, step, results; int commands; } nodes[DW_MEMORIES / 2];

// Keep `places` numbers for a node's SRAM and CARD_PLACES for its card, and number its arriving packets from `next` on
// in steps of `step`. With `commands` its host DMA names commands by their numbers, not addresses. NULL: no room.
uint64_t *dw_messages_create(int node, uint64_t places, uint64_t next, uint64_t step, int commands) {
  free(nodes[node].at);
  nodes[node].at = calloc(places + CARD_PLACES, sizeof *nodes[node].at);
  nodes[node].places = places;
  nodes[node].next = next;
  nodes[node].step = step;
  nodes[node].results = ((uint64_t)1 << 45) + (uint64_t)node;   // FIRST_RESULT in pymodels/messages.py
  nodes[node].commands = commands;
  return nodes[node].at;
}
static uint64_t *noted(unsigned node, uint64_t place) { return place < nodes[node].places ? nodes[node].at + place : NULL; }
static uint64_t *command(unsigned node, uint32_t number, int store) { return noted(node, 2 * (number % COMMANDS) + (uint64_t)store + 1); }
static uint64_t *arrived(unsigned node, uint32_t address) {
  static uint64_t drawn;
  uint64_t *const place = noted(node, address >> PLACE);
  drawn = nodes[node].next;
  nodes[node].next += nodes[node].step;
  if (!place || nodes[node].commands) return &drawn;   // packets do not pass through memory: counted by the firmware
  *place = drawn;
  return place;
}
static uint64_t *result(unsigned node) {
  static uint64_t drawn;
  drawn = nodes[node].results;
  nodes[node].results += MOST_NODES;
  return &drawn;
}
// Return the number of the message of a record of a NIC's or card's hardware, 0 if unknown. Numbers a packet that
// arrives, and a card's result.
uint64_t dw_message_of(int unit, int event, int packet, int argument) {
  const unsigned node = (unsigned)unit / PARTS, part = (unsigned)unit % PARTS;
  const uint64_t *found = NULL;
  if (node >= DW_MEMORIES / 2 || !nodes[node].at) return 0;
  if (event == TX_START) found = noted(node, (uint32_t)argument >> PLACE);
  else if (event == RX_HEAD && part == NET_RECV) found = arrived(node, (uint32_t)argument);
  else if (event == CARD_TAKE)
    found = (uint32_t)argument >> CARD_PLACE < CARD_PLACES ? nodes[node].at + nodes[node].places + ((uint32_t)argument >> CARD_PLACE) : NULL;
  else if (event == CARD_GIVE) found = result(node);
  else if (event == MOVE_START || event == MOVE_DONE) found = command(node, (uint32_t)argument, 1);
  else if (event == DMA_START || event == DMA_DONE)
    found = nodes[node].commands ? command(node, (uint32_t)packet, argument) : noted(node, (uint32_t)packet >> PLACE);
  return found ? *found : 0;
}
