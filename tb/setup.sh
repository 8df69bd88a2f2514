#!/bin/sh
# Sets up what the commands of the Makefile need: tools of the system, and a virtual environment with requirements.txt
# and sanlab itself, as an editable installation of this checkout.
#
# Usage: [VENV=.venv] [PYTHON=python3] sh tb/setup.sh [NEED ...]
# NEED is compiler, icarus, waves, headers, tshark, chromium, clang, mpich or fortran: what the command to come cannot do without;
# exit 1 when it stays missing. Compiler, icarus, waves and headers are installed at the first set-up where that is possible, and named in one line
# where not.
#
# The last thing written is $VENV/sanlab.stamp: place and requirements. While it agrees, nothing is done. It says "unfinished"
# while packages are being installed, and an environment that was left so is made again.
# shellcheck disable=SC2086,SC2116  # lists of package names are meant to be split
set -eu
cd "$(dirname "$0")/.."

VENV=${VENV:-.venv}
STAMP=$VENV/sanlab.stamp
OUT=${SANLAB_OUT:-sim_build}  # all that set-up writes is there or in $VENV: the checkout may be read-only
LOG=$OUT/setup.log
TOOLS="compiler icarus waves headers"
CHECKS="tshark chromium clang mpich fortran"  # large, and only the tests need them: never installed but for a command that asks

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }
trap 'die "set-up interrupted; the next one repairs it"' HUP INT TERM

# --- tools of the system ---------------------------------------------------------------------------------------------------

has() {  # has NEED
    case $1 in
        compiler) command -v g++ ;;
        icarus) command -v iverilog && command -v vvp ;;
        tshark) command -v tshark ;;  # the tests let it read what a run leaves for Wireshark
        chromium) command -v chromium ;;  # the tests look at the reports with it
        clang) command -v clang-16 && command -v llvm-objdump-16 ;;  # the tests compile firmware for NICs' processors
        mpich) command -v mpicc.mpich && command -v mpiexec.mpich ;;  # the tests compare our MPI with it
        fortran) command -v gfortran ;;  # MPI programs in Fortran
        waves) printf '#include <lz4.h>\n#include <zlib.h>\n' | g++ -E -x c++ - ;;  # Verilator's FST writer
        headers) python=$(chosen) && "$python" -c "$LOOK_FOR_HEADERS" ;;  # of Python: with them, runs are faster
    esac >/dev/null 2>&1
}
LOOK_FOR_HEADERS='import os, sys, sysconfig; sys.exit(not os.path.isfile(sysconfig.get_paths()["include"] + "/Python.h"))'

packages() {  # packages NEED: their names in Debian and Ubuntu
    case $1 in
        compiler) echo g++ ;;
        icarus) echo iverilog ;;
        waves) echo liblz4-dev zlib1g-dev ;;
        headers) if python=$(chosen); then echo "python$(version "$python")-dev"; else echo python3-dev; fi ;;
        tshark) echo tshark ;;
        chromium) echo chromium ;;
        clang) echo clang-16 llvm-16 ;;
        mpich) echo mpich libmpich-dev ;;
        fortran) echo gfortran ;;
    esac
}

lacking() {  # lacking NEED ...: the packages of those that are not there, each once
    for tool in $TOOLS $CHECKS; do
        case " $* " in *" $tool "*) has "$tool" || packages "$tool" ;; esac
    done
}

install() {  # install PACKAGE ...: false when this user or this machine cannot
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    say "installing $* with apt-get"
    mkdir -p "$OUT"
    {
        apt-get -qq update || true
        add "$@" || { failed=; for package in "$@"; do add "$package" || failed=1; done; [ -z "$failed" ]; }
    } >"$LOG" 2>&1 </dev/null || { say "apt-get failed: see $LOG"; return 1; }
}

add() { DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 install --no-install-recommends "$@"; }

remedy() { echo "type \`apt-get install $*\` as root (Debian, Ubuntu), then make again"; }

# --- the virtual environment -----------------------------------------------------------------------------------------------

place() { printf '%s\n' "$(pwd -P)" "$VENV"; }
wanted() { place; echo "-e ."; cat requirements.txt; }
ready() { [ -x "$VENV/bin/python" ] && wanted | cmp -s - "$STAMP"; }

find_python() {  # the first Python that is new enough
    if [ -n "${PYTHON:-}" ]; then set -- "$PYTHON"; else set -- python3 python3.13 python3.12 python3.11 python3.10; fi
    for name in "$@"; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            printf '%s\n' "$name"
            return
        fi
    done
    return 1
}

version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

usable() {  # an environment that was finished once, here, or that somebody made by hand
    "$VENV/bin/python" -c 'import pip' 2>/dev/null || return 1
    [ ! -f "$STAMP" ] || [ "$(head -n 2 "$STAMP")" = "$(place)" ]
}

chosen() { if usable; then echo "$VENV/bin/python"; else find_python; fi; }  # the Python of the environment, or to be

make_anew() {
    case $VENV in /*) where=$VENV ;; *) where=$(pwd -P)/$VENV ;; esac
    case $where in *:*)
        die "$where: Python makes no virtual environment in a path with ':'; move the checkout, or give VENV=<folder>" ;;
    esac
    python=$(find_python) || die "Python 3.10 or newer is missing: $(remedy python3 python3-venv)"
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        needed=python$(version "$python")-venv
        install "$needed" || die "$python lacks ensurepip, which makes virtual environments: $(remedy "$needed")"
    fi
    if [ -e "$VENV" ] && [ ! -f "$STAMP" ] && [ ! -f "$VENV/pyvenv.cfg" ] && [ -n "$(ls -A "$VENV")" ]; then
        die "$VENV is no virtual environment, and not empty: remove it, or give another one as VENV="
    fi
    mkdir -p "$VENV"
    echo unfinished >"$STAMP"
    find "$VENV" -mindepth 1 -maxdepth 1 ! -name sanlab.stamp -exec rm -rf {} +
    "$python" -m venv "$VENV" || die "$python could not make a virtual environment in $VENV"
}

set_up() {
    usable || make_anew
    say "installing the packages of requirements.txt in $VENV (once; a minute or two)"
    echo unfinished >"$STAMP"
    "$VENV/bin/python" -m pip install --disable-pip-version-check --no-input --quiet -r requirements.txt -e . ||
        die "the packages could not be installed (above: why); make again goes on from here"
    if [ -z "$("$VENV/bin/python" -m find_libpython)" ]; then  # the simulators load Python as a library
        needed=libpython$(version "$VENV/bin/python")
        install "$needed" || die "Python's shared library is missing: $(remedy "$needed")"
    fi
    wanted >"$STAMP.part"
    mv "$STAMP.part" "$STAMP"
}

# --- the order of things ---------------------------------------------------------------------------------------------------

for need in "$@"; do
    packages "$need" | grep -q . || die "tb/setup.sh: unknown need '$need'; known: $TOOLS $CHECKS"
done
first=
ready || first=$TOOLS
missing=$(lacking $first "$@")
if [ -z "$first" ] && [ -z "$missing" ]; then exit 0; fi

if command -v flock >/dev/null 2>&1; then  # two at a time would stand in each other's way
    mkdir -p "$OUT"
    exec 9>"$OUT/.setup.lock"
    flock 9
fi
[ -z "$missing" ] || install $missing || true
ready || set_up
missing=$(lacking $first "$@")
[ -z "$missing" ] || say "missing: $(echo $missing): $(remedy $missing)"
[ -z "$(lacking "$@")" ]
