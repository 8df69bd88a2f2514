// Icarus: the doorway's functions as $san_* system functions and tasks, and the hooks with which C wakes clocks and
// Python.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vpi_user.h>

#include "doorway.h"

extern int dw_wake_now(void);

enum { MOST_ARGS = 10 };
static int64_t args[MOST_ARGS];

// X and Z read as zero here; the benches check for X where it matters.
static void take_args(void) {
  vpiHandle call = vpi_handle(vpiSysTfCall, 0), it = vpi_iterate(vpiArgument, call), h;
  for (int i = 0; it && (h = vpi_scan(it)) && i < MOST_ARGS; i++) {
    s_vpi_value v = {.format = vpiVectorVal};
    vpi_get_value(h, &v);
    PLI_UINT32 low = (PLI_UINT32)(v.value.vector[0].aval & ~v.value.vector[0].bval);
    if (vpi_get(vpiSize, h) > 32) args[i] = (int64_t)((uint64_t)(PLI_UINT32)(v.value.vector[1].aval & ~v.value.vector[1].bval) << 32 | low);
    else args[i] = (int32_t)low;
  }
}
static void give(int64_t x) {
  s_vpi_vecval words[2] = {{(PLI_INT32)x, 0}, {(PLI_INT32)(x >> 32), 0}};
  s_vpi_value v = {.format = vpiVectorVal};
  v.value.vector = words;
  vpi_put_value(vpi_handle(vpiSysTfCall, 0), &v, 0, vpiNoDelay);
}
#define FUNCTION(name, call) static PLI_INT32 f_##name(PLI_BYTE8 *u) { (void)u; take_args(); call; return 0; }
#define A(i) ((int)args[i])
FUNCTION(san_mem_read, give(san_mem_read(A(0), A(1))))
FUNCTION(san_mem_write, san_mem_write(A(0), A(1), args[2], A(3)))
FUNCTION(san_cfg, give(san_cfg(A(0), A(1))))
FUNCTION(san_event, san_event(args[0], A(1), A(2), args[3], args[4]))
FUNCTION(san_invariant, san_invariant(args[0], A(1), A(2), A(3)))
FUNCTION(san_trace, san_trace(args[0], A(1), A(2), A(3), A(4), args[5]))
FUNCTION(san_alarm, san_alarm(A(0), args[1]))
FUNCTION(san_processor_clock, give(san_processor_clock(A(0), A(1), A(2), args[3], args[4], A(5), A(6), A(7))))
FUNCTION(san_processor_address, give(san_processor_address(A(0))))
FUNCTION(san_processor_data, give(san_processor_data(A(0))))
FUNCTION(san_core_clock, give(san_core_clock(args[0], A(1), A(2), A(3), A(4))))
FUNCTION(san_core_register, san_core_register(A(0), A(1), A(2)))
FUNCTION(san_core_stop, san_core_stop(args[0], A(1)))
FUNCTION(san_core_turn, san_core_turn(A(0), args[1], A(2), A(3), A(4)))
FUNCTION(san_core_sleeps, give(san_core_sleeps(A(0), args[1])))
FUNCTION(san_core_wakes, give(san_core_wakes(A(0), args[1])))
FUNCTION(san_host_clock, give(san_host_clock(A(0), A(1), args[2], A(3), A(4), args[5])))
FUNCTION(san_host_address, give(san_host_address(A(0))))
FUNCTION(san_host_data, give(san_host_data(A(0))))
FUNCTION(san_host_enables, give(san_host_enables(A(0))))
FUNCTION(san_period, give(san_period(A(0))))
FUNCTION(san_next_edge, give(san_next_edge(A(0))))
FUNCTION(san_use, san_use(args[0], A(1), A(2), A(3), A(4), A(5), A(6)))
FUNCTION(san_flight, san_flight(A(0), A(1)))
FUNCTION(san_capture, san_capture(A(0), A(1), args[2], args[3], args[4]))
FUNCTION(san_sample, san_sample(A(0), args[1], args[2], args[3], A(4)))
FUNCTION(san_circuit_live, san_circuit_live(args[0], A(1), A(2), A(3)))
FUNCTION(san_circuit_order, give(san_circuit_order(args[0], A(1), A(2))))
FUNCTION(san_circuit_give, give(san_circuit_give(A(0), A(1))))
FUNCTION(san_circuit_take, san_circuit_take(A(0), A(1), A(2), A(3)))
FUNCTION(san_circuit_complete, san_circuit_complete(args[0], A(1), A(2), args[3], args[4]))
FUNCTION(san_fault, give(san_fault(A(0), args[1], A(2))))
FUNCTION(san_power, give(san_power(args[0], A(1), A(2))))

static PLI_INT32 size32(PLI_BYTE8 *u) { (void)u; return 32; }
static PLI_INT32 size64(PLI_BYTE8 *u) { (void)u; return 64; }
static void add(int type, char *name, PLI_INT32 (*f)(PLI_BYTE8 *), PLI_INT32 (*size)(PLI_BYTE8 *)) {
  s_vpi_systf_data d = {.type = type, .sysfunctype = vpiSizedSignedFunc, .tfname = name, .calltf = f, .sizetf = size};
  vpi_register_systf(&d);
}

// ---------------------------------------------------------------- hooks: kicks and wakes are writes to signals of the top level
static int64_t now(void) {
  s_vpi_time t = {.type = vpiSimTime};
  vpi_get_time(NULL, &t);
  return (int64_t)((uint64_t)t.high << 32 | t.low);
}
static void increment(vpiHandle h) {
  s_vpi_value v = {.format = vpiIntVal};
  vpi_get_value(h, &v);
  v.value.integer = (v.value.integer + 1) & 0xff;
  vpi_put_value(h, &v, 0, vpiNoDelay);
}
static vpiHandle signal_of(const char *name) {
  vpiHandle h = vpi_handle_by_name((PLI_BYTE8 *)name, NULL);
  if (!h) { vpi_printf("doorway: the top level has no signal %s\n", name); exit(3); }
  return h;
}
static void later(int64_t delay, PLI_INT32 (*f)(struct t_cb_data *), intptr_t data) {
  s_vpi_time t = {.type = vpiSimTime, .high = (PLI_UINT32)(delay >> 32), .low = (PLI_UINT32)delay};
  s_cb_data cb = {.reason = cbAfterDelay, .cb_rtn = f, .time = &t, .user_data = (PLI_BYTE8 *)data};
  vpi_free_object(vpi_register_cb(&cb));
}
static vpiHandle wake, turn;   // `turn`: only with waves (tb/build/compilers.py)
static int64_t wake_time = -1;
static PLI_INT32 on_wake(struct t_cb_data *cb) {
  (void)cb;
  if (now() != wake_time) return 0;   // replaced by an earlier wake-up
  wake_time = -1;
  if (turn) increment(turn);   // the file then has the time of each turn
  if (dw_wake_now()) return 0;
  if (!wake) wake = signal_of("top.wake");
  increment(wake);
  return 0;
}
static void wake_at(int64_t time) {
  int64_t present = now();
  if (time < present) time = present;
  wake_time = time;
  later(time - present, on_wake, 0);
}
static vpiHandle kicks[DW_CLOCKS];
static void kick(int clock) {
  if (!kicks[clock]) {
    char name[32];
    snprintf(name, sizeof name, "top.kick_%d", clock);
    kicks[clock] = signal_of(name);
  }
  increment(kicks[clock]);
}
static PLI_INT32 on_kick(struct t_cb_data *cb) { kick((int)(intptr_t)cb->user_data); return 0; }
static void kick_at(int clock, int64_t time) {
  int64_t delay = time - now();
  if (delay <= 0) kick(clock);
  else later(delay, on_kick, clock);
}

static void put(const char *name, int value) {
  s_vpi_value v = {.format = vpiIntVal};
  v.value.integer = value;
  vpi_put_value(signal_of(name), &v, 0, vpiNoDelay);
}
static PLI_INT32 on_reset_end(struct t_cb_data *cb) { (void)cb; put("top.rst", 0); return 0; }
static void start_clocks(int always_on, int64_t reset_end) {
  turn = vpi_handle_by_name((PLI_BYTE8 *)"waves.turn", NULL);
  put("top.always_on", always_on);
  put("top.started", 1);
  later(reset_end - now(), on_reset_end, 0);
}
static void raise_faults(void) { put("top.faults", 1); }

static void start(void) {
#define FUNC32(name) add(vpiSysFunc, "$" #name, f_##name, size32)
#define FUNC64(name) add(vpiSysFunc, "$" #name, f_##name, size64)
#define TASK(name) add(vpiSysTask, "$" #name, f_##name, 0)
  FUNC64(san_mem_read); TASK(san_mem_write); FUNC32(san_cfg); TASK(san_event); TASK(san_invariant); TASK(san_trace); TASK(san_alarm); TASK(san_flight); TASK(san_use); TASK(san_capture); TASK(san_sample); FUNC64(san_period); FUNC64(san_next_edge);
  FUNC64(san_processor_clock); FUNC32(san_processor_address); FUNC32(san_processor_data);
  TASK(san_circuit_live); FUNC64(san_circuit_order); FUNC64(san_circuit_give); TASK(san_circuit_take); TASK(san_circuit_complete);
  FUNC32(san_core_clock); TASK(san_core_register); TASK(san_core_stop);
  TASK(san_core_turn); FUNC32(san_core_sleeps); FUNC32(san_core_wakes);
  FUNC32(san_host_clock); FUNC32(san_host_address); FUNC64(san_host_data); FUNC32(san_host_enables); FUNC32(san_fault); FUNC32(san_power);
  dw_set_hooks((dw_hooks){now, wake_at, kick_at, start_clocks, raise_faults, NULL});
}
void (*vlog_startup_routines[])(void) = {start, 0};
