// The NIC's card of a node, and whether its processor may execute machine code. A build of a cluster generates a file of
// this name for its kind of NIC; this one is for a look at `sim_node` alone.
`define SIM_NIC_CARD sim_lanai9_card
`define SIM_NIC_CORE 0
