// Pins of the PCI master: AD and C/BE# from the registers of the transaction, parity one clock later, enables.
// Combinational except for PAR and PAR64.
module myri_pci_master_pins
  import myri_pci_pkg::*;
(
    input  logic              clk,             // PCI clock
    input  logic              rst,             // synchronous, active high
    input  pci_wires_t        bus,             // as sampled (for parity)
    input  logic              park,            // bus parked here
    input  logic              in_addr,         // address phase
    input  logic              in_data,         // data phase
    input  logic              in_turn,         // IRDY# is driven high
    input  logic              frame,           // FRAME# asserted
    input  logic              irdy,            // IRDY# asserted
    input  logic              req,             // REQ# asserted
    input  logic              ask64,           // this transaction requests 64-bit transfer
    input  logic              wide,            // ... and gets them
    input  logic              half,            // 32 bits wide: upper dword
    input  logic              write,           // write to the bus
    input  logic              is_config,       // configuration cycle
    input  logic       [31:0] addr,            // next byte
    input  logic       [15:0] bytes,           // bytes left in the transaction
    input  logic       [63:0] head,            // write beat
    input  logic       [ 6:0] cfg_line_bytes,  // cache line
    output pci_out_t          pci_out,         // drives and enables
    output logic              needed           // parity of a parked bus follows one clock later
);
  logic drive_lo, drive_hi, par_q, par64_q, par_oe_q, par64_oe_q;
  pci_command_t command;
  logic [3:0] last;  // first lane behind the bytes, 1..8
  logic [7:0] lanes;  // bytes of this lane group, 1 = moved
  logic [7:0] cbe;
  logic [63:0] ad;

  always_comb begin
    if (is_config && write) command = PCI_CONFIG_WRITE;
    else if (is_config) command = PCI_CONFIG_READ;
    else if (write) command = PCI_MEM_WRITE;
    else if (bytes <= 16'd8) command = PCI_MEM_READ;
    else if (bytes <= {9'b0, cfg_line_bytes}) command = PCI_MEM_READ_LINE;
    else command = PCI_MEM_READ_MULTIPLE;
  end

  assign last = ({1'b0, bytes} + {14'b0, addr[2:0]} >= 17'd8) ? 4'd8 : bytes[3:0] + {1'b0, addr[2:0]};
  assign lanes = (8'hFF << addr[2:0]) & (8'hFF >> (4'd8 - last));

  always_comb begin
    if (in_addr) begin
      ad  = {32'd0, addr[31:3], addr[2] & ~ask64, 2'b00};
      cbe = {4'h0, command};
    end else if (in_data) begin
      ad  = half ? {head[63:32], head[63:32]} : head;
      cbe = wide ? ~lanes : {4'hF, half ? ~lanes[7:4] : ~lanes[3:0]};
    end else begin
      ad  = '0;
      cbe = '0;
    end
  end

  assign drive_lo = in_addr | (in_data & write) | park;
  assign drive_hi = ask64 & (in_addr | (in_data & write));

  // A parked master drives 0, so its parity is 0, too.
  assign needed   = (par_oe_q != park) | (par_oe_q & par_q);
  always_ff @(posedge clk) begin
    if (drive_lo | rst) par_q <= ^{bus.ad[31:0], bus.cbe[3:0]} | rst;
    if (drive_hi | rst) par64_q <= ^{bus.ad[63:32], bus.cbe[7:4]} | rst;
    par_oe_q   <= drive_lo & ~rst;
    par64_oe_q <= drive_hi & ~rst;
  end

  // One concatenation in the order of myri_pci_pkg, top bit first: event-driven simulators pay per assignment.
  logic own_cbe, own_frame;
  pci_out_t driven;
  assign own_cbe = drive_lo | in_data;
  assign own_frame = in_addr | in_data;
  assign driven = {
    // M66, INTA#, REQ#
    2'b11,
    ~req,
    // enables: SERR#, PERR#, ACK64#, REQ64#, STOP#, DEVSEL#, TRDY#, IRDY#, FRAME#, PAR64, PAR, C/BE# hi, lo, AD hi, lo
    3'b000,
    ask64 & own_frame,
    3'b000,
    in_data | in_turn,
    own_frame,
    par64_oe_q,
    par_oe_q,
    ask64 & own_frame,
    own_cbe,
    drive_hi,
    drive_lo,
    // drives: SERR#, PERR#, ACK64#, REQ64#, STOP#, DEVSEL#, TRDY#, IRDY#, FRAME#, PAR64, PAR
    3'b111,
    ~(frame & ask64),
    3'b111,
    ~irdy,
    ~frame,
    par64_q | ~par64_oe_q,
    par_q | ~par_oe_q,
    // C/BE#, AD
    (ask64 & own_frame) ? cbe[7:4] : 4'hF,
    own_cbe ? cbe[3:0] : 4'hF,
    drive_hi ? ad[63:32] : 32'hFFFF_FFFF,
    drive_lo ? ad[31:0] : 32'hFFFF_FFFF
  };
  localparam logic [PCI_OUT_BITS-1:0] ONLY_REQ = {3'b110, PCI_NOTHING[PCI_OUT_BITS-4:0]};
  assign pci_out = (own_cbe | own_frame | in_turn | par_oe_q | par64_oe_q) ? driven : req ? ONLY_REQ : PCI_NOTHING;
endmodule
