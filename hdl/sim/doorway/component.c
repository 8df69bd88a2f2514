// Calls from RTL in a cluster that is evaluated component by component (verilator_main.cpp). All hosts, and all
// switches of one size, are the same Verilated model, built with the numbers of the first. Before a component is
// evaluated, `dw_here` sets the offset of its numbers. The offset is added in this file, so that the rest of the
// doorway uses the numbers of the cluster only.
#include "doorway.h"

static const dw_component whole;   // 1 = one model contains the whole cluster
const dw_component *dw_here = &whole;

long long here_mem_read(int memory, int address) { return san_mem_read(memory + dw_here->memory, address); }
void here_mem_write(int memory, int address, long long data, int enables) {
  san_mem_write(memory + dw_here->memory, address, data, enables);
}
int here_cfg(int unit, int key) { return san_cfg(unit + dw_here->settings, key); }
void here_event(long long now, int unit, int code, long long a, long long b) { san_event(now, unit + dw_here->unit, code, a, b); }
void here_invariant(long long now, int unit, int code, int packet) { san_invariant(now, unit + dw_here->unit, code, packet); }
void here_trace(long long now, int unit, int event, int packet, int argument, long long argument2) {
  san_trace(now, unit + dw_here->unit, event, packet, argument, argument2);
}
void here_use(long long now, int unit, int event, int clock, int log2, int used, int also) {
  san_use(now, unit + dw_here->unit, event, clock + dw_here->clock, log2, used, also);
}
void here_alarm(int clock, long long edge) { san_alarm(clock + dw_here->clock, edge); }
void here_flight(int clock, int level) { san_flight(clock + dw_here->clock, level); }
long long here_period(int clock) { return san_period(clock + dw_here->clock); }
long long here_next_edge(int clock) { return san_next_edge(clock + dw_here->clock); }
long long here_processor_clock(int unit, int memory, int clock, long long now, long long edge, int flags, int isr, int value) {
  return san_processor_clock(unit + dw_here->unit, memory + dw_here->memory, clock + dw_here->clock, now, edge, flags, isr, value);
}
int here_processor_address(int unit) { return san_processor_address(unit + dw_here->unit); }
int here_processor_data(int unit) { return san_processor_data(unit + dw_here->unit); }
int here_core_clock(long long now, int unit, int pc, int what, int fault) {
  return san_core_clock(now, unit + dw_here->unit, pc, what, fault);
}
void here_core_register(int unit, int number, int value) { san_core_register(unit + dw_here->unit, number, value); }
void here_core_stop(long long now, int unit) { san_core_stop(now, unit + dw_here->unit); }
void here_core_turn(int unit, long long edge, int place, int pc, int what) { san_core_turn(unit + dw_here->unit, edge, place, pc, what); }
int here_core_sleeps(int unit, long long edge) { return san_core_sleeps(unit + dw_here->unit, edge); }
int here_core_wakes(int unit, long long edge) { return san_core_wakes(unit + dw_here->unit, edge); }
int here_host_clock(int unit, int memory, long long now, int taken, int loaded, long long data) {
  return san_host_clock(unit + dw_here->unit, memory + dw_here->memory, now, taken, loaded, data);
}
int here_host_address(int unit) { return san_host_address(unit + dw_here->unit); }
long long here_host_data(int unit) { return san_host_data(unit + dw_here->unit); }
int here_host_enables(int unit) { return san_host_enables(unit + dw_here->unit); }
int here_fault(int cable, long long edge, int character) { return san_fault(cable + dw_here->cable, edge, character); }
int here_power(long long now, int unit, int slot) { return san_power(now, unit + dw_here->unit, slot); }
void here_capture(int cable, int count, long long data, long long began, long long now) {
  san_capture(cable + dw_here->cable, count, data, began, now);
}
void here_circuit_live(long long now, int unit, int place, int live) { san_circuit_live(now, unit + dw_here->unit, place, live); }
long long here_circuit_order(long long now, int unit, int place) { return san_circuit_order(now, unit + dw_here->unit, place); }
long long here_circuit_give(int unit, int place) { return san_circuit_give(unit + dw_here->unit, place); }
void here_circuit_take(int unit, int place, int bytes, int data) { san_circuit_take(unit + dw_here->unit, place, bytes, data); }
void here_circuit_complete(long long now, int unit, int place, long long low, long long high) {
  san_circuit_complete(now, unit + dw_here->unit, place, low, high);
}
void here_sample(int unit, long long now, long long low, long long high, int ends) {
  san_sample(unit + dw_here->unit, now, low, high, ends);
}
