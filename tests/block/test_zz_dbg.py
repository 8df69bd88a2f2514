import cocotb
from tests.block.nic_card import *
from pymodels.registers import *
@cocotb.test(timeout_time=1,timeout_unit="ms")
async def dbg(dut):
    b=CardBench(dut)
    await b.start()
    try:
        await b.control(1<<31)
        await b.quiet()
    except AssertionError as e: print("ERR",e)
    n=dut.u_nic
    for name in ("arb_busy","regs_busy","net_busy","host_busy","far_busy"): print(name,n[name].value)
    print(n.u_pci.far_busy.value,n.u_pci.near_busy.value, n.u_pci.target_busy.value, n.u_pci.master_busy.value)
    print("link", n.u_net.u_link.ptx_busy.value,n.u_net.u_link.prx_busy.value,n.u_net.u_link.port_busy.value,n.u_net.u_link.far_busy.value,n.u_net.u_link.level.value,n.u_net.u_link.level_before.value)
    print(dut.idle_out.value, dut.lanai_reset.value, dut.edges.value.to_unsigned(), dut.pci_edges.value.to_unsigned(), len(b.cpu.source.queue))
