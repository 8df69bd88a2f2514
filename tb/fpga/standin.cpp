// Stand-in for a board: the generic top in Verilator, with three unrelated clocks, behind a pseudo-terminal or a TCP
// port. A host cannot tell it from a board. The first line on standard output names the port.
//
// Options: --clocks BUS NIC LINK (periods in ps), --divisor N, --jitter PERCENT, --ppm N, --seed N, --tcp PORT,
// --identity HEX (256 bits), --with-parent (ends with its parent). SIGUSR1 presses the reset button.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "Vboard_sim.h"
#include "verilated.h"

namespace {

volatile sig_atomic_t button = 0;

constexpr int RESET_CLOCKS = 64;            // bus clocks for which the button is pressed
constexpr uint64_t UP_CLOCKS = 128;         // bus clocks until the board listens after power-up
constexpr int POLL_CLOCKS = 64;             // bus clocks between two reads of the port
constexpr uint64_t QUIET_CLOCKS = 1000000;  // bus clocks without a byte after which the board runs slowly
constexpr int IDENTITY_DIGITS = 64;

struct Options {
    int64_t period[3] = {40000, 30000, 6250};
    int divisor = 4;
    double jitter = 10.0;  // largest displacement of an edge, percent of the period
    int64_t ppm = 50;      // largest deviation of a clock's frequency
    uint64_t seed = 1;
    int tcp = -1;
    const char *identity = nullptr;
};

[[noreturn]] void fail(const char *what, const char *cause) {
    fprintf(stderr, "%s: %s\n", what, cause);
    exit(2);
}

class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
    // Return a number from -1 to 1.
    double next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return double(state_ >> 11) / double(1ull << 52) - 1.0;
    }

  private:
    uint64_t state_;
};

// Clock whose edges lie around a grid of its own frequency and phase; displacements do not add up.
class Clock {
  public:
    Clock(int64_t period_ps, const Options &options, Random &random) : random_(random) {
        period_ = double(period_ps) * (1.0 + double(options.ppm) * random.next() * 1e-6);
        grid_ = options.jitter > 0.0 ? period_ * (random.next() + 1.0) / 2.0 : 0.0;
        jitter_ = period_ * options.jitter / 100.0;
        advance();
    }
    double next() const { return next_; }
    void advance() {
        grid_ += period_;
        next_ = grid_ + (jitter_ > 0.0 ? jitter_ * random_.next() : 0.0);
    }

  private:
    Random &random_;
    double period_, grid_, jitter_, next_ = 0.0;
};

// Stream of bytes to the host.
class Port {
  public:
    explicit Port(int tcp) {
        if (tcp >= 0) listen_on(tcp);
        else open_terminal();
    }
    // Print the name of the port for the host.
    void announce() const {
        printf("%s\n", name_.c_str());
        fflush(stdout);
    }
    // Read what the host has sent, and return its length.
    size_t receive(uint8_t *data, size_t size) {
        if (listener_ >= 0 && stream_ < 0) accept_host();
        if (stream_ < 0) return 0;
        ssize_t length = read(stream_, data, size);
        if (length > 0) return size_t(length);
        if (length == 0 || (errno != EAGAIN && errno != EINTR)) lose();
        return 0;
    }
    // Send a byte. A host that does not read loses it, as on a serial line.
    void send(uint8_t byte) {
        if (stream_ < 0) return;
        if (write(stream_, &byte, 1) < 0 && errno != EAGAIN && errno != EINTR) lose();
    }
    // Wait for bytes of the host, at most a millisecond.
    void rest() const {
        pollfd one = {stream_ >= 0 ? stream_ : listener_, POLLIN, 0};
        poll(&one, 1, 1);
    }

  private:
    int stream_ = -1, listener_ = -1, held_ = -1;
    std::string name_;

    void open_terminal() {
        stream_ = posix_openpt(O_RDWR | O_NOCTTY);
        if (stream_ < 0 || grantpt(stream_) || unlockpt(stream_)) fail("pseudo-terminal", strerror(errno));
        // Held open, so that the port outlives its users.
        held_ = open(ptsname(stream_), O_RDWR | O_NOCTTY);
        termios raw;
        if (held_ < 0 || tcgetattr(held_, &raw)) fail("pseudo-terminal", strerror(errno));
        cfmakeraw(&raw);
        tcsetattr(held_, TCSANOW, &raw);
        fcntl(stream_, F_SETFL, O_NONBLOCK);
        name_ = ptsname(stream_);
    }
    void listen_on(int port) {
        listener_ = socket(AF_INET, SOCK_STREAM, 0);
        int yes = 1;
        setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        sockaddr_in where = {};
        where.sin_family = AF_INET;
        where.sin_port = htons(uint16_t(port));
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof where;
        if (bind(listener_, reinterpret_cast<sockaddr *>(&where), length) || listen(listener_, 1))
            fail("TCP port", strerror(errno));
        getsockname(listener_, reinterpret_cast<sockaddr *>(&where), &length);
        fcntl(listener_, F_SETFL, O_NONBLOCK);
        name_ = "tcp:localhost:" + std::to_string(ntohs(where.sin_port));
    }
    void accept_host() {
        stream_ = accept(listener_, nullptr, nullptr);
        if (stream_ < 0) return;
        int yes = 1;
        setsockopt(stream_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        fcntl(stream_, F_SETFL, O_NONBLOCK);
    }
    void lose() {
        if (listener_ < 0) return;
        close(stream_);
        stream_ = -1;
    }
};

// Serial line of the board, one step for each bus clock.
class Line {
  public:
    Line(Port &port, int divisor) : port_(port), divisor_(divisor) {}
    // Return the level of the line to the board for the coming bus clock.
    bool drive(uint64_t clock) {
        if (send_bits_ == 0) {
            if (at_ == have_ && clock % POLL_CLOCKS == 0) {
                have_ = port_.receive(bytes_, sizeof bytes_);
                at_ = 0;
            }
            if (at_ == have_) return true;
            frame_ = 0x200u | unsigned(bytes_[at_++]) << 1;
            send_bits_ = 10;
            send_wait_ = divisor_;
            used_ = clock;
        }
        bool level = frame_ & 1u;
        if (--send_wait_ == 0) {
            send_wait_ = divisor_;
            frame_ >>= 1;
            send_bits_--;
        }
        return level;
    }
    // Sample the line from the board.
    void sample(bool level, uint64_t clock) {
        if (take_bits_ == 0) {
            if (level) return;
            take_bits_ = 9;
            take_wait_ = divisor_ + divisor_ / 2;
            used_ = clock;
        }
        if (--take_wait_ > 0) return;
        take_wait_ = divisor_;
        if (--take_bits_ > 0) byte_ = uint8_t(byte_ >> 1 | (level ? 0x80 : 0));
        else if (level) port_.send(byte_);
    }
    bool quiet(uint64_t clock) const { return clock - used_ > QUIET_CLOCKS; }

  private:
    Port &port_;
    int divisor_;
    uint8_t bytes_[4096] = {}, byte_ = 0;
    size_t have_ = 0, at_ = 0;
    unsigned frame_ = 0;
    int send_bits_ = 0, send_wait_ = 0, take_bits_ = 0, take_wait_ = 0;
    uint64_t used_ = 0;
};

Options parse(int argc, char **argv) {
    Options options;
    for (int i = 1; i < argc; i++) {
        std::string name = argv[i];
        auto value = [&]() -> const char * {
            if (++i >= argc) fail(name.c_str(), "its value is missing");
            return argv[i];
        };
        if (name == "--clocks") for (int64_t &period : options.period) period = atoll(value());
        else if (name == "--divisor") options.divisor = atoi(value());
        else if (name == "--jitter") options.jitter = atof(value());
        else if (name == "--ppm") options.ppm = atoll(value());
        else if (name == "--seed") options.seed = strtoull(value(), nullptr, 10);
        else if (name == "--tcp") options.tcp = atoi(value());
        else if (name == "--identity") options.identity = value();
        else if (name == "--with-parent") prctl(PR_SET_PDEATHSIG, SIGTERM);
        else fail(name.c_str(), "unknown option");
    }
    if (options.identity == nullptr || strlen(options.identity) != IDENTITY_DIGITS) fail("--identity", "not 64 digits");
    return options;
}

}  // namespace

int main(int argc, char **argv) {
    const Options options = parse(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction press = {};
    press.sa_handler = [](int) { button = 1; };
    sigaction(SIGUSR1, &press, nullptr);

    Vboard_sim board;
    for (int word = 0; word < IDENTITY_DIGITS / 8; word++)
        board.identity[IDENTITY_DIGITS / 8 - 1 - word] =
            uint32_t(strtoul(std::string(options.identity + 8 * word, 8).c_str(), nullptr, 16));
    Random random(options.seed);
    Clock bus(options.period[0], options, random), nic(options.period[1], options, random);
    Clock link(options.period[2], options, random);
    Port port(options.tcp);
    Line line(port, options.divisor);

    uint64_t clock = 0, pressed_until = RESET_CLOCKS;
    board.rxd = 1;
    board.arst_n = 0;
    board.eval();
    CData *const pins[] = {&board.bus_clk, &board.nic_clk, &board.link_clk};
    Clock *const clocks[] = {&bus, &nic, &link};
    for (;;) {
        // Edges of one time are one evaluation: each register samples the values before them.
        const double now = std::min({bus.next(), nic.next(), link.next()});
        const bool ticks = bus.next() == now;
        if (ticks) board.rxd = line.drive(clock);
        for (int i = 0; i < 3; i++) {
            if (clocks[i]->next() != now) continue;
            *pins[i] = 1;
            clocks[i]->advance();
        }
        board.eval();
        for (CData *pin : pins) *pin = 0;
        board.eval();
        if (!ticks) continue;
        if (board.arst_n) line.sample(board.txd, clock);
        if (++clock == UP_CLOCKS) port.announce();
        if (button) {
            button = 0;
            pressed_until = clock + RESET_CLOCKS;
        }
        board.arst_n = clock >= pressed_until;
        if (clock % POLL_CLOCKS == 0 && line.quiet(clock)) port.rest();
    }
}
