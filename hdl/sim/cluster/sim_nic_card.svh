// Module of a node's NIC card, whether its processor may execute machine code, and
// whether its memory has a monitor. The build of a cluster generates a
// file of this name for its kind of NIC; this file serves to elaborate `sim_node` alone.
`define SIM_NIC_CARD sim_lanai9_card
`define SIM_NIC_CORE 0
`define SIM_NIC_MONITOR 0
