// Connection of the PCI agents to tri-state nets: instantiate it beside the design and connect its ports to the nets.
//
// The agents drive the variables *_drive and *_enable and sample *_seen. The pull-ups of the bus are in this module.
// On a 32-bit bus leave par64, req64_n and ack64_n open.
`timescale 1ns / 1ps
module pci_nets #(
    parameter int WIDTH = 32  // 32 or 64
) (
    inout wire [  WIDTH-1:0] ad,        // AD
    inout wire [WIDTH/8-1:0] cbe,       // C/BE#
    inout wire               par,       // PAR
    inout wire               frame_n,   // FRAME#
    inout wire               irdy_n,    // IRDY#
    inout wire               trdy_n,    // TRDY#
    inout wire               devsel_n,  // DEVSEL#
    inout wire               stop_n,    // STOP#
    inout wire               perr_n,    // PERR#
    inout wire               serr_n,    // SERR#
    inout wire               par64,     // PAR64
    inout wire               req64_n,   // REQ64#
    inout wire               ack64_n    // ACK64#
);
  logic [WIDTH-1:0] ad_drive, ad_enable;
  logic [WIDTH/8-1:0] cbe_drive, cbe_enable;
  logic par_drive, par_enable, frame_n_drive, frame_n_enable, irdy_n_drive, irdy_n_enable;
  logic trdy_n_drive, trdy_n_enable, devsel_n_drive, devsel_n_enable, stop_n_drive, stop_n_enable;
  logic perr_n_drive, perr_n_enable, serr_n_drive, serr_n_enable;
  logic par64_drive, par64_enable, req64_n_drive, req64_n_enable, ack64_n_drive, ack64_n_enable;

  initial begin
    {ad_enable, cbe_enable, par_enable, frame_n_enable, irdy_n_enable, trdy_n_enable} = '0;
    {devsel_n_enable, stop_n_enable, perr_n_enable, serr_n_enable} = '0;
    {par64_enable, req64_n_enable, ack64_n_enable} = '0;
  end

  for (genvar i = 0; i < WIDTH; i++) begin : gen_ad
    assign ad[i] = ad_enable[i] ? ad_drive[i] : 1'bz;
  end
  for (genvar i = 0; i < WIDTH / 8; i++) begin : gen_cbe
    assign cbe[i] = cbe_enable[i] ? cbe_drive[i] : 1'bz;
  end
  assign par = par_enable ? par_drive : 1'bz;
  assign frame_n = frame_n_enable ? frame_n_drive : 1'bz;
  assign irdy_n = irdy_n_enable ? irdy_n_drive : 1'bz;
  assign trdy_n = trdy_n_enable ? trdy_n_drive : 1'bz;
  assign devsel_n = devsel_n_enable ? devsel_n_drive : 1'bz;
  assign stop_n = stop_n_enable ? stop_n_drive : 1'bz;
  assign perr_n = perr_n_enable ? perr_n_drive : 1'bz;
  assign serr_n = serr_n_enable ? serr_n_drive : 1'bz;
  assign par64 = par64_enable ? par64_drive : 1'bz;
  assign req64_n = req64_n_enable ? req64_n_drive : 1'bz;
  assign ack64_n = ack64_n_enable ? ack64_n_drive : 1'bz;

  pullup pull_ad[WIDTH-1:0] (ad);
  pullup pull_cbe[WIDTH/8-1:0] (cbe);
  pullup pull_par (par);
  pullup pull_frame_n (frame_n);
  pullup pull_irdy_n (irdy_n);
  pullup pull_trdy_n (trdy_n);
  pullup pull_devsel_n (devsel_n);
  pullup pull_stop_n (stop_n);
  pullup pull_perr_n (perr_n);
  pullup pull_serr_n (serr_n);
  pullup pull_par64 (par64);
  pullup pull_req64_n (req64_n);
  pullup pull_ack64_n (ack64_n);

  wire [WIDTH-1:0] ad_seen = ad;
  wire [WIDTH/8-1:0] cbe_seen = cbe;
  wire par_seen = par, frame_n_seen = frame_n, irdy_n_seen = irdy_n, trdy_n_seen = trdy_n;
  wire devsel_n_seen = devsel_n, stop_n_seen = stop_n, perr_n_seen = perr_n, serr_n_seen = serr_n;
  wire par64_seen = par64, req64_n_seen = req64_n, ack64_n_seen = ack64_n;
endmodule
