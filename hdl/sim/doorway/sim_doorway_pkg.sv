// Functions of the doorway as Verilator imports them (described in hdl/sim/doorway/doorway.h), through component.c,
// which maps the numbers of a component to those of the cluster. Icarus calls them as $system functions.
package sim_doorway_pkg;
`ifdef VERILATOR
  import "DPI-C" here_mem_read = function longint san_mem_read(
    input int memory,
    input int address);
  import "DPI-C" here_mem_write = function void san_mem_write(
    input int memory,
    input int address,
    input longint data,
    input int enables);
  import "DPI-C" here_cfg = function int san_cfg(
    input int unit,
    input int key);
  import "DPI-C" here_event = function void san_event(
    input longint now,
    input int unit,
    input int code,
    input longint a,
    input longint b);
  import "DPI-C" here_invariant = function void san_invariant(
    input longint now,
    input int unit,
    input int code,
    input int packet);
  import "DPI-C" here_trace = function void san_trace(
    input longint now,
    input int unit,
    input int code,
    input int packet,
    input int argument,
    input longint argument2);
  import "DPI-C" here_use = function void san_use(
    input longint now,
    input int unit,
    input int code,
    input int clock,
    input int window_log2,
    input int used,
    input int also);
  import "DPI-C" here_alarm = function void san_alarm(
    input int clock,
    input longint edge_index);
  import "DPI-C" here_processor_clock = function longint san_processor_clock(
    input int unit,
    input int memory,
    input int clock,
    input longint now,
    input longint edge_index,
    input int flags,
    input int isr,
    input int register_value);
  import "DPI-C" here_processor_address = function int san_processor_address(input int unit);
  import "DPI-C" here_processor_data = function int san_processor_data(input int unit);
  import "DPI-C" here_core_clock = function int san_core_clock(
    input longint now,
    input int unit,
    input int pc,
    input int what,
    input int fault);
  import "DPI-C" here_core_register = function void san_core_register(
    input int unit,
    input int number,
    input int value);
  import "DPI-C" here_core_stop = function void san_core_stop(
    input longint now,
    input int unit);
  import "DPI-C" here_core_turn = function void san_core_turn(
    input int unit,
    input longint edge_index,
    input int place,
    input int pc,
    input int what);
  import "DPI-C" here_core_sleeps = function int san_core_sleeps(
    input int unit,
    input longint edge_index);
  import "DPI-C" here_core_wakes = function int san_core_wakes(
    input int unit,
    input longint edge_index);
  import "DPI-C" here_host_clock = function int san_host_clock(
    input int unit,
    input int memory,
    input longint now,
    input int taken,
    input int loaded,
    input longint data);
  import "DPI-C" here_host_address = function int san_host_address(input int unit);
  import "DPI-C" here_host_data = function longint san_host_data(input int unit);
  import "DPI-C" here_host_enables = function int san_host_enables(input int unit);
  import "DPI-C" here_period = function longint san_period(input int clock);
  import "DPI-C" here_next_edge = function longint san_next_edge(input int clock);
  import "DPI-C" here_flight = function void san_flight(
    input int clock,
    input int level);
  import "DPI-C" here_fault = function int san_fault(
    input int cable,
    input longint edge_index,
    input int character);
  import "DPI-C" here_power = function int san_power(
    input longint now,
    input int unit,
    input int slot);
  import "DPI-C" here_capture = function void san_capture(
    input int cable,
    input int count,
    input longint data,
    input longint began,
    input longint now);
  import "DPI-C" here_sample = function void san_sample(
    input int unit,
    input longint now,
    input longint low,
    input longint high,
    input int ends);
  import "DPI-C" here_circuit_live = function void san_circuit_live(
    input longint now,
    input int unit,
    input int place,
    input int live);
  import "DPI-C" here_circuit_order = function longint san_circuit_order(
    input longint now,
    input int unit,
    input int place);
  import "DPI-C" here_circuit_give = function longint san_circuit_give(
    input int unit,
    input int place);
  import "DPI-C" here_circuit_take = function void san_circuit_take(
    input int unit,
    input int place,
    input int bytes,
    input int data);
  import "DPI-C" here_circuit_complete = function void san_circuit_complete(
    input longint now,
    input int unit,
    input int place,
    input longint low,
    input longint high);
`else
  localparam int UNUSED = 0;
`endif
endpackage
