// Observation of a switch, the crossbar or the SP switch: one bundle a port. No behaviour depends on it.
package myri_switch_pkg;
  // Packets at one input port.
  typedef struct packed {
    logic head;  // strobe: route byte decoded, `out` is valid
    logic grant;  // strobe: granted its output; SP switch: or a place in the list of the output
    logic queued;  // strobe: the packet enters the central queue of an SP switch
    logic tail;  // strobe: the GAP leaves the input
    logic stall;  // level: the packet waits for its output
    logic illegal;  // strobe: unknown control character, ignored
    logic overflow;  // strobe: a character was lost
    logic [3:0] out;  // output of the packet
    logic [7:0] fill;  // characters in the slack buffer
    logic [31:0] key;  // first four bytes after the route, or first word of the VIA header; valid at `tail`
  } switch_trace_t;
  localparam int SWITCH_TRACE_BITS = 51;  // bits of switch_trace_t
  // Numbers of packets and characters since reset, at one port.
  typedef struct packed {
    logic [31:0] packets;  // input: packets forwarded
    logic [31:0] queued;  // input: of these, packets that crossed the central queue of an SP switch
    logic [31:0] bad_route;  // input: packets dropped, route byte wrong
    logic [31:0] absent;  // input: packets dropped, output not present
    logic [31:0] overflow;  // input: characters lost
    logic [31:0] forward_reset;  // output: packets cut
  } switch_counts_t;
  localparam int SWITCH_COUNTS_BITS = 192;  // bits of switch_counts_t
endpackage
