// Backend of a PCI card in a bench: its ports, each name with a prefix. In order: writes to the card (beat, 8-byte
// aligned address, lanes, bytes written), reads of it (request, address, hint of bytes, answer), then the card as
// master: command (write to the bus, byte address, bytes), data to the bus, data from it, command finished, with an
// abort.
`ifndef SIM_PCI_BACKEND
`define SIM_PCI_BACKEND
`define PCI_BACKEND_PORTS(c) \
    output logic c``tw_valid, \
    input logic c``tw_ready, \
    output logic [31:0] c``tw_addr, \
    output logic [63:0] c``tw_data, \
    output logic [7:0] c``tw_be, \
    output logic c``tread_valid, \
    input logic c``tread_ready, \
    output logic [31:0] c``tread_addr, \
    output logic [7:0] c``tread_bytes, \
    input logic c``td_valid, \
    input logic [63:0] c``td_data, \
    input logic c``mc_valid, \
    output logic c``mc_ready, \
    input logic c``mc_write, \
    input logic [31:0] c``mc_addr, \
    input logic [15:0] c``mc_bytes, \
    input logic c``mw_valid, \
    output logic c``mw_ready, \
    input logic [63:0] c``mw_data, \
    output logic c``mr_valid, \
    input logic c``mr_ready, \
    output logic [63:0] c``mr_data, \
    output logic c``m_done, \
    output logic c``m_error,
`endif
