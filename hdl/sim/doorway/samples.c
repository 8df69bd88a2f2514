// Samples of monitored wires (sim_monitor.sv), which Python decodes (tb/monitors).
//
// A monitor reports its wires at each clock edge at which they differ from the edge before. Python reads the samples
// when it wants them, when the store is half full, and, for a live monitor, at the end of each transaction.
#include "doorway.h"

enum { DW_SAMPLES = 1 << 19 };            // capacity of the store
enum { SAMPLES_UNIT = 17409 };            // unit of the events, above those of the cluster
enum { EVENT_SAMPLES = 16 };              // the store has samples to decode
enum { MONITOR_ON = 1, MONITOR_LIVE = 2 };
enum { MONITOR_UNITS = 1 << 18 };         // units of hosts and of ports of switches

typedef struct { int64_t time; uint64_t low, high; int32_t unit, lane; } dw_sample;
dw_sample dw_samples[DW_SAMPLES];
uint64_t dw_sample_count, dw_sample_lost;
static uint8_t monitored[MONITOR_UNITS];
int dw_monitors;                          // monitors that are on: every transaction is then executed on the bus

// Switch a unit's monitor on (MONITOR_ON), or on with an event for each transaction (MONITOR_LIVE).
void dw_monitor(int unit, int mode) {
  if (!monitored[unit]) dw_monitors++;
  monitored[unit] = (uint8_t)mode;
}
// `what`: bit 0: a transaction may end with this sample; above: the lane, a group of 128 wires.
void san_sample(int unit, long long now, long long low, long long high, int what) {
  if (!monitored[unit]) return;
  if (dw_sample_count == DW_SAMPLES) { dw_sample_lost++; return; }
  dw_samples[dw_sample_count++] = (dw_sample){now, (uint64_t)low, (uint64_t)high, unit, what >> 1};
  if (dw_sample_count == DW_SAMPLES / 2 || (what & 1 && monitored[unit] == MONITOR_LIVE))
    san_event(now, SAMPLES_UNIT, EVENT_SAMPLES, unit, 0);
}
