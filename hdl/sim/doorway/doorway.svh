// Calls of the doorway from simulation modules: `SAN(san_cfg)(unit, key)` is a DPI call on Verilator, a $system call on
// Icarus.
`ifndef SANLAB_DOORWAY_SVH
`define SANLAB_DOORWAY_SVH
`ifdef VERILATOR
`define SAN(f) sim_doorway_pkg::f
`else
`define SAN(f) $``f
`endif
`endif
