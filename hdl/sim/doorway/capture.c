// Packets as they leave the cables, byte by byte (sim_tap.sv), for packets.pcapng.
//
// The store has two halves: when one is full, the other is emptied and filled. The last packets are therefore always
// kept, in at least half of the room. A record is a header and the bytes, padded to 8. Only the beginning of a long
// packet is kept.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "doorway.h"

enum { CAPTURE_CABLES = 1 << 14, CAPTURE_END = 16 };
typedef struct { int64_t began, ended; int32_t cable, length, kept, pad; } dw_captured;
typedef struct { uint8_t *bytes; int32_t room, length; } open_packet;   // length: of the packet, also where it is not kept

static open_packet open_packets[CAPTURE_CABLES];
static uint8_t *halves[2];
static uint64_t half_room;
static int32_t keep;
uint64_t dw_capture_used[2], dw_capture_dropped;   // bytes in each half; dropped packets
int dw_capture_half;                               // half being filled
static uint64_t packets_in[2];

// Allocate `bytes` (virtual memory; pages exist once written), with `kept` bytes of each packet. 0 bytes: no capture.
uint8_t *dw_capture_create(uint64_t bytes, int kept) {
  keep = 0;
  if (!bytes) return NULL;
  half_room = bytes / 2 & ~7ull;
  void *base = mmap(NULL, 2 * half_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return NULL;
  halves[0] = base;
  halves[1] = halves[0] + half_room;
  keep = kept;
  return base;
}
uint64_t dw_capture_room(void) { return half_room; }

static void append(open_packet *p, const uint8_t *bytes, int count) {
  if (p->length + count > p->room && p->room < keep) {
    int32_t room = p->room ? 2 * p->room : 256;
    if (room > keep) room = keep;
    uint8_t *more = realloc(p->bytes, (size_t)room);
    if (more) { p->bytes = more; p->room = room; }
  }
  int32_t fits = p->room - p->length;
  if (fits > count) fits = count;
  if (fits > 0) memcpy(p->bytes + p->length, bytes, (size_t)fits);
  p->length += count;
}
static void store(open_packet *p, int cable, int64_t began, int64_t ended) {
  int32_t kept = p->length < p->room ? p->length : p->room;
  uint64_t size = sizeof(dw_captured) + (((uint64_t)kept + 7) & ~7ull);
  if (size > half_room) { dw_capture_dropped++; return; }
  if (dw_capture_used[dw_capture_half] + size > half_room) {
    dw_capture_half ^= 1;
    dw_capture_dropped += packets_in[dw_capture_half];
    packets_in[dw_capture_half] = dw_capture_used[dw_capture_half] = 0;
  }
  uint8_t *at = halves[dw_capture_half] + dw_capture_used[dw_capture_half];
  dw_captured head = {began, ended, cable, p->length, kept, 0};
  memcpy(at, &head, sizeof head);
  memcpy(at + sizeof head, p->bytes, (size_t)kept);
  dw_capture_used[dw_capture_half] += size;
  packets_in[dw_capture_half]++;
}

// `count` bytes in the low end of `data`, the last one lowest; with CAPTURE_END they are the packet's last bytes, and
// it is complete.
void san_capture(int cable, int count, long long data, long long began, long long now) {
  if (!keep || cable < 0 || cable >= CAPTURE_CABLES) return;
  open_packet *p = &open_packets[cable];
  int n = count & ~CAPTURE_END;
  uint8_t bytes[8];
  for (int i = 0; i < n; i++) bytes[i] = (uint8_t)((unsigned long long)data >> (8 * (n - 1 - i)));
  append(p, bytes, n);
  if (!(count & CAPTURE_END)) return;
  store(p, cable, began, now);
  p->length = 0;
}
