// Speed and saturation of the switch from plain C++: toggles clk, prints one line of JSON.
//
// Usage: switch_bench [cycles=2000000] [load/65536=65536] [length=64] [self=1] [seed=1]
// Build: verilator --cc --exe --build -O3 --top-module sim_switch_bench on the required files.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vsim_switch_bench.h"
#include "verilated.h"

namespace {

std::uint64_t argument(int argc, char **argv, int index, std::uint64_t fallback) {
    return index < argc ? std::strtoull(argv[index], nullptr, 0) : fallback;
}

void tick(Vsim_switch_bench &top, std::uint64_t cycles) {
    for (std::uint64_t i = 0; i < cycles; ++i) {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }
}

}  // namespace

int main(int argc, char **argv) {
    const std::uint64_t cycles = argument(argc, argv, 1, 2'000'000);
    Vsim_switch_bench top;
    top.rst = 1;
    top.enable = 0;
    top.cfg_load = static_cast<std::uint32_t>(argument(argc, argv, 2, 65536));
    top.cfg_length = static_cast<std::uint16_t>(argument(argc, argv, 3, 64));
    top.cfg_self = argument(argc, argv, 4, 1) != 0;
    top.cfg_seed = static_cast<std::uint32_t>(argument(argc, argv, 5, 1));
    top.cfg_fall_through = 0;
    tick(top, 4);
    top.rst = 0;
    top.enable = 1;
    tick(top, 20'000);  // warm up: queues fill, caches warm
    const std::uint64_t chars0 = top.total_chars;
    const std::uint64_t packets0 = top.total_packets;
    const auto start = std::chrono::steady_clock::now();
    tick(top, cycles);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const double chars = static_cast<double>(top.total_chars - chars0);
    const double packets = static_cast<double>(top.total_packets - packets0);
    const int ports = static_cast<int>(sizeof(top.port_received) / sizeof(std::uint32_t));
    const double accepted = packets * top.cfg_length / (static_cast<double>(cycles) * ports);
    std::printf("{\"ports\": %d, \"cycles\": %llu, \"wall_s\": %.3f, \"cycles_per_s\": %.0f, "
                "\"chars_per_s\": %.0f, \"accepted_load\": %.4f, \"errors\": %llu}\n",
                ports, static_cast<unsigned long long>(cycles), wall.count(), static_cast<double>(cycles) / wall.count(),
                chars / wall.count(), accepted, static_cast<unsigned long long>(top.total_errors));
    top.final();
    return top.total_errors != 0;
}
