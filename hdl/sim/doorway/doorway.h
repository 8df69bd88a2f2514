// Doorway between Python and RTL, in one C library: memories, run-time settings, the event ring, the command rings, the
// processor port model, the trace. RTL calls san_* (DPI on Verilator, $san_* by VPI on Icarus), Python calls dw_* by
// ctypes, and the simulator's main loop calls dw_* to learn when to wake which clock. Times are picoseconds; software
// acts at odd times, edges lie at even ones.
#ifndef SANLAB_DOORWAY_H
#define SANLAB_DOORWAY_H
#include <stdint.h>

enum {
  DW_MEMORIES = 4096,     // host memories and NIC SRAMs, from 2048 on those of further cards
  DW_CLOCKS = 4096,       // clocks of a cluster
  DW_CABLES = 17408,      // cable directions: one per host, one per port of each switch
  DW_UNITS = 17408,       // units that take commands or own settings: 16 per host, one per switch
  DW_SETTINGS = 128,      // run-time settings of a unit
  DW_EVENTS = 1 << 16,    // event ring, records
  DW_COMMANDS = 256,      // command ring of a unit, records
  DW_TURN = 1 << 14,      // commands given in one turn of Python
  DW_WATCHES = 256,       // words of a memory that can be watched at a time
  DW_STEPS = 264,         // steps of a polling loop
  DW_LOOPS = 8,           // polling loops of a processor
  DW_ANSWERS = 16,        // answers of all of them together
  DW_FAULTS = 64,         // pending faults of a cable
  DW_USES = 1 << 10,      // uses of resources that are kept, of all together
  DW_CORE_LAST = 64,      // instructions of a processor that are kept
  DW_CORE_COUNTS = 5,     // numbers for each word of a program: executed, clocks of each cause of a stall
};

typedef struct { int64_t time, unit, code, a, b, c, d, e; } dw_event;
typedef struct { int64_t time, op, a, b, c, d, e, f; } dw_command;
typedef struct { int64_t time; uint32_t unit; uint16_t event, pad; uint32_t packet, argument; int64_t argument2; uint64_t message; } dw_trace;
typedef struct { int32_t address; uint32_t expect, mask; int32_t is_register, clocks, accesses; } dw_step;
// Flags of `is_register`: at a hit the register is read again; the higher bits are the number of answers of the step,
// and the index of the first.
enum { STEP_READS = 2, STEP_ANSWERS = 8, STEP_FIRST = 16 };
// Begin of the answer to bits of a register: the register is written, a path executed, another register read; each part
// is optional. `passed` is the path for each earlier answer without a set bit. Of a path: clocks, accesses, number in
// the trace.
typedef struct { int32_t mask, clears, runs, reads, passed[3], path[3]; } dw_answer;

// Hooks that differ between simulators, set by the Verilator main loop and the VPI glue.
typedef struct {
  int64_t (*now)(void);
  void (*wake_at)(int64_t time);                 // toggle `wake` at this time
  void (*kick_at)(int clock, int64_t time);      // the clock's first edge strictly after this time must occur
  void (*start)(int always_on, int64_t reset_end);   // clocks run from now on; reset ends at this time
  void (*faults)(void);                          // raise the cluster's `faults` input
  int64_t (*quiet_until)(void);                  // no clock has an edge of its own before this time; 0: now or unknown
} dw_hooks;
void dw_set_hooks(dw_hooks hooks);

// Offsets of the numbers of the component being evaluated from those that it was built with (component.c).
typedef struct { int unit, settings, memory, clock, cable; } dw_component;
extern const dw_component *dw_here;

// The LANai's processor port and the host's CPU: one call per clock each (see processor.c, host_cpu.c).
dw_command *dw_next_command(int unit, int64_t now);
dw_command *dw_command_behind(int unit, int index);   // event that follows the next one by this many; NULL: none
int dw_has_command(int unit);
void dw_pop_command(int unit);
void dw_given_now(int unit, int64_t now);   // the next command's delay counts from now
void dw_store_late(int memory, const dw_command *c, int64_t now);   // up to four words of `b` and `c`, in memory order
uint8_t *dw_memory(int memory, uint64_t address, int bytes);

// Calls from RTL, with the numbers of the cluster.
long long san_mem_read(int memory, int address);
void san_mem_write(int memory, int address, long long data, int enables);
int san_cfg(int unit, int key);
void san_event(long long time, int unit, int code, long long a, long long b);
void san_invariant(long long time, int unit, int code, int packet);
void san_trace(long long time, int unit, int event, int packet, int argument, long long argument2);
void dw_trace_message(int64_t time, int unit, int event, int packet, int argument, int64_t argument2, uint64_t message);
enum { DW_FIRST_NAMED = 0x100, DW_LAST_NAMED = 0x113 };   // TX_START to MOVE_DONE: records that can name a message's place
enum { DW_CARD_TAKE = 0x148, DW_CARD_GIVE = 0x149 };   // the same of an FPGA card
uint64_t dw_message_of(int unit, int event, int packet, int argument);
void san_use(long long now, int unit, int event, int clock, int log2, int used, int also);
void san_alarm(int clock, long long edge);
void san_flight(int clock, int level);
long long san_period(int clock);
long long san_next_edge(int clock);
long long san_processor_clock(int unit, int memory, int clock, long long now, long long edge, int flags, int isr, int register_value);
int san_processor_address(int unit);
int san_processor_data(int unit);
int san_core_clock(long long now, int unit, int pc, int what, int fault);
void san_core_register(int unit, int number, int value);
void san_core_stop(long long now, int unit);
void san_core_turn(int unit, long long edge, int place, int pc, int what);
int san_core_sleeps(int unit, long long edge);
int san_core_wakes(int unit, long long edge);
int san_host_clock(int unit, int memory, long long now, int taken, int loaded, long long data);
int san_host_address(int unit);
long long san_host_data(int unit);
int san_host_enables(int unit);
int san_fault(int cable, long long slot, int character);
int san_power(long long now, int unit, int slot);
void san_capture(int cable, int count, long long data, long long began, long long now);
void san_sample(int unit, long long now, long long low, long long high, int ends);
extern int dw_monitors;
void san_circuit_live(long long now, int unit, int place, int live);
long long san_circuit_order(long long now, int unit, int place);
long long san_circuit_give(int unit, int place);
void san_circuit_take(int unit, int place, int bytes, int data);
void san_circuit_complete(long long now, int unit, int place, long long low, long long high);
extern int64_t dw_turn[];

// Use of a resource (use.c): edge of its clock, uses.
typedef struct { int64_t edge; int unit; uint32_t used, also; } dw_use;
dw_use dw_use_of(uint64_t number);                   // one of the last DW_USES
void dw_use_again(int unit, uint64_t from, int64_t period, int64_t times);
void dw_use_over(int64_t now);
void dw_use_turns(const dw_use *uses, int count, int64_t step, int64_t times);
int dw_use_event(int unit);                          // unit of its records; 0: none
extern uint64_t dw_use_count;
// Access to the trace.
dw_trace dw_trace_record(uint64_t number);
extern uint64_t dw_trace_count;
extern int dw_trace_on;
void dw_faults_on(void);
extern int dw_faults;
// Faults within a node (strikes.c): flipped bits of the next action of this kind at this place; 0: none.
enum { STRIKE_READ = 1, STRIKE_WRITE = 2, STRIKE_STORE = 3, STRIKE_LOST_STORE = 4, STRIKE_REGISTER_WRITE = 5, STRIKE_REGISTER_READ = 6,
       STRIKE_INTERRUPT = 7 };
enum { STRIKE_TRACED = 16 };         // their kinds in the trace begin behind those of cables
uint64_t dw_struck(int kind, int place, int64_t now);
extern int dw_strikes;               // pending; not checked while 0
int dw_memory_unit(int memory);
void dw_kick(int unit);
void dw_kick_at(int unit, int64_t time);     // the first edge of the unit's clock strictly after this time happens
extern uint64_t dw_acts;                     // turns of Python, and turns of loops that a host's port executes
extern uint64_t dw_spun;
int dw_computes(void);
int dw_processor_quiet(int unit);
extern uint64_t dw_met_count;
int64_t dw_period(int clock);
int64_t dw_unit_period(int unit);
// Processors that execute machine code (core.c).
extern int dw_cores;
void dw_cores_whole(int64_t now);
void dw_core_touch(int unit);
#endif
