# sanlab: every command of the project. `make help` lists them; the work is done by the command `sanlab`, tb/sanlab.
#
# Values given on the command line reach the programs through the environment, unexpanded and quoted: spaces, quotes and
# dollar signs in them are harmless.

.DEFAULT_GOAL := all
.NOTPARALLEL:
.SUFFIXES:
unexport MAKEFLAGS MFLAGS

## STUDY=<name>               the study of run and waves (make studies lists them, and the settings of one STUDY)
## TEST=<name>                the file of test-cluster, tests/cluster/test_<name>.py (all); SIM and SEED as for a study
## BENCH=<name>               the block bench of sim
## NETLIST=1|generic|ecp5     sim: the hardware of the bench is a netlist of these cells (1: generic); netlist: only these; board SIM=1: so are NICs and switch
## BLOCK=<name>               the block of pnr: a module, or a name of tb/fpga/targets.toml
## SIM=verilator|icarus       the simulator (verilator)
## SEED=<n>                   the seed (1); the same seed gives the same results
## WAVES=1                    also write waves.fst
## FROM=<us>                  simulated time at which waves or a timeline begin; measure: FROM="paris.rx rises"
## TO=<us>                    simulated time at which they end; measure: TO="paris.rx=GAP"
## WITHIN="signal=value"      measure only intervals that lie in a period in which this holds
## EACH=<signal>              measure matches FROM and TO by the value of this signal
## CLUSTER=<file>             a cluster's configuration file, or the name of an example
## GRIM_HOST=<name>           of several clusters in that file, the one with this host
## PROFILE=<name>             the hardware profile
## SET="key=value ..."        settings of study, profile and run
## MESSAGE=<n>|slowest        the message that explain describes, numbered from 1 in the order of sends
## A=<results>                compare: earlier results: results.json, the folder of a run or a sweep, a study, sweep/<study>
## B=<results>                compare: later results, in the same forms
## THRESHOLD=<percent>        a change above it makes compare fail (5)
## AXES="key=values ..."      axes of a sweep: "hosts=2,4,8 size=0:65536:x2"; hosts, seed, profile, or a key of SET
## SCHEDULER=tcp://host:port  the Dask cluster of a sweep (one of this machine)
## WORKERS=<n>                points of a sweep at a time on this machine (its processors)
## SAMPLES=<n>                draws of all values together that uncertainty runs (24); points of a wave of calibrate
##                            (10 for each uncertain value)
## FAMILY=<name>              the family of published values that calibrate conditions, or all
## DESIGNS="name: key=value ...; name: ..."  named settings of a sweep, a point and a row for each
## CSV=1                      also write the table of a sweep as points.csv
## PLOT="metric ..."          metrics that a sweep plots (those that differ between its points)
## LAYER=<name>               the message layer that explore exhausts, that fuzz runs programs of (all), that campaign
##                            disturbs (grim and via), whose C firmware is built, whose paths are counted, or that
##                            new writes
## SEEDS=<n>|<first>..<last>  number of new programs of fuzz or faults of campaign (500), or the first and last seed
## ON=machine|rtl             fuzz: hardware that runs the programs (machine)
## MONITORS=<kind>,...        monitors of fuzz on the RTL: pci, dma, doorbell, sram, link; a broken rule fails (none)
## PAUSES=<us>                longest pause before each act of a program of fuzz, drawn by the seed (0)
## FIRMWARE=python|c          c: in each program of fuzz NICs execute the layer's firmware in C; new writes it too (python)
## WORLD=<name>               explore: one small world of the layer (all)
## MINUTES=<n>                explore: time limit of a world (5)
## SHAPE=<name>               cluster: topology: clos, fat_tree, ring or torus (clos)
## HOSTS=<n>                  cluster: number of hosts (64)
## PORTS=4|8|16               cluster: ports of each switch (16)
## TABLE=1                    explore: print the recorded counts of all worlds in Markdown, without a search
## FOLDER=<path>              mutants: the sources to change, such as firmware/grim/nic or hdl/link
## N=<n>                      mutants: number of mutants (20)
## QUICK=1                    figures with fewer repetitions and smaller sizes
## COCOTB_TEST_FILTER=<regex> only these tests of the bench
## PYTEST_ADDOPTS="..."       further options of pytest for make test, such as "-k link"
## SANLAB_COMPILED=0          run loop, turns and verbs in Python in place of the C extension, for breakpoints: same results
## BOARD=<name>               the FPGA board of board (ulx3s, ecpix5)
## DESIGN=<name>              board: the design: pair, loopback or card (pair)
## SLOWER=<n>                 board: divisor of the profile's NIC and link clocks (4)
## TCP=<port>                 board SIM=1: a TCP port instead of a pseudo-terminal
## VENV=<folder>              the virtual environment (.venv)
## PYTHON=<program>           the Python that makes it (the first of 3.10 or newer)

# The variables of each target. One that is given on the command line and that no target of the line uses is rejected:
# it would change nothing, in silence.
uses_run := STUDY SIM SEED WAVES FROM TO CLUSTER GRIM_HOST PROFILE SET
uses_all := $(filter-out STUDY FROM TO,$(uses_run))
uses_test := PYTEST_ADDOPTS CI HYPOTHESIS
uses_check := PYTEST_ADDOPTS
uses_test-long := PYTEST_ADDOPTS CI
uses_studies := STUDY PROFILE SET
uses_new := LAYER FIRMWARE
uses_cluster := SHAPE HOSTS PORTS
uses_sim := BENCH SIM SEED WAVES NETLIST COCOTB_TEST_FILTER
uses_test-cluster := TEST SIM SEED WAVES PYTEST_ADDOPTS
uses_netlist := BENCH NETLIST SEED
uses_pnr := BLOCK PROFILE
uses_mutants := FOLDER N SEED
uses_waves := $(filter-out WAVES,$(uses_run))
uses_timeline := STUDY FROM TO
uses_measure := STUDY FROM TO WITHIN EACH
uses_explain := STUDY MESSAGE SIM SEED CLUSTER GRIM_HOST PROFILE SET
uses_compare := A B THRESHOLD
uses_sweep := STUDY SIM SEED CLUSTER GRIM_HOST PROFILE SET AXES SCHEDULER WORKERS PLOT DESIGNS CSV
uses_fuzz := LAYER SEEDS ON SIM FIRMWARE PAUSES PROFILE MONITORS SCHEDULER WORKERS
uses_campaign := LAYER SEEDS SIM PROFILE SET SCHEDULER WORKERS
uses_explore := LAYER WORLD MINUTES TABLE
uses_firmware := LAYER
uses_costs := LAYER
uses_figures := SIM QUICK
uses_uncertainty := STUDY SIM SEED CLUSTER GRIM_HOST PROFILE SET SAMPLES SCHEDULER WORKERS
uses_calibrate := FAMILY SIM SEED SAMPLES SCHEDULER WORKERS
uses_mpi4py := CLUSTER PROFILE
uses_board := BOARD DESIGN SLOWER SIM SEED TCP NETLIST
everywhere := VENV PYTHON SANLAB_%
on_the_line := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
goals := $(or $(MAKECMDGOALS),all)
used := $(sort $(foreach goal,$(goals),$(uses_$(goal))))
unused := $(filter-out $(used) $(everywhere),$(on_the_line))
$(if $(unused),$(error $(firstword $(unused)): not a variable of `make $(goals)`; its variables: $(or $(used),none). Settings of a study are given as SET="key=value key=value"))

GIVEN := STUDY TEST BENCH BLOCK NETLIST SIM SEED WAVES FROM TO WITHIN EACH CLUSTER GRIM_HOST PROFILE SET MESSAGE A B THRESHOLD AXES SCHEDULER WORKERS SAMPLES FAMILY DESIGNS CSV PLOT LAYER SEEDS ON PAUSES MONITORS FIRMWARE WORLD MINUTES SHAPE HOSTS PORTS TABLE FOLDER N QUICK COCOTB_TEST_FILTER BOARD DESIGN SLOWER TCP VENV PYTHON
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
$(if $(SIM),,$(eval override SIM := verilator))
$(if $(SEED),,$(eval override SEED := 1))
$(if $(VENV),,$(eval override VENV := .venv))
export $(filter-out COCOTB_TEST_FILTER,$(GIVEN))
$(if $(COCOTB_TEST_FILTER),$(eval export COCOTB_TEST_FILTER),$(eval unexport COCOTB_TEST_FILTER))

waves := $(if $(filter-out 0,$(WAVES)),--waves)
icarus := $(filter icarus,$(SIM))
setup := @sh tb/setup.sh
simulator := compiler $(if $(icarus),icarus,$(if $(waves),waves))
python := "$$VENV/bin/python"
sanlab := $(python) -m tb.sanlab
study := $(sanlab) run --sim="$$SIM" --seed="$$SEED" --cluster="$$CLUSTER" --profile="$$PROFILE" --set="$$SET"

.PHONY: all setup test check test-long help run studies new docs cluster sim test-cluster board netlist equivalence lint synth pnr prove mutants waves timeline measure explain compare sweep fuzz campaign explore firmware costs figures fidelity uncertainty calibrate mpi4py bench counts clean distclean

all: ## set up, then the main job: GRIM ping-pong and streaming between two hosts
	$(setup) $(simulator)
	@status=0; for job in grim_pingpong grim_streaming; do \
	  $(study) $(waves) -- $$job || { status=$$?; [ $$status -lt 128 ] || break; }; \
	done; exit $$status

setup: ## only set up: system tools where possible, the virtual environment
	$(setup)

test: ## set up, then all tests, on both simulators
	$(setup) compiler icarus tshark chromium clang mpich fortran
	@$(python) -m pytest -n 2 --dist worksteal

check: ## lint and types of Python, and the quick unit tests, for each commit: a minute or two
	$(setup)
	@$(sanlab) lint ruff mypy python import words width
	@$(python) -m pytest -q -n 2 --dist worksteal --quick tests/unit

test-long: ## make test, with new random examples, every case on Icarus and all mutants of proofs: for a schedule, an hour or more
	$(setup) compiler icarus tshark chromium clang mpich fortran
	@HYPOTHESIS=explore SANLAB_EVERY_CASE=1 SANLAB_ALL_MUTANTS=1 $(python) -m pytest -n 2 --dist worksteal

help: ## list the targets and variables
	@echo "targets of make:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile
	@echo "variables (make run STUDY=grim_pingpong SEED=2):"
	@sed -n 's/^## /  /p' Makefile
	@echo "A study that fails a check ends with 1, refused input with 2; make shows that number and itself ends with 2."

run: ## run one STUDY; what it leaves is in sim_build/<study>/
	$(setup) $(simulator)
	@$(study) $(waves) --from="$$FROM" --to="$$TO" -- "$$STUDY"

studies: ## list the studies, or all settings of one STUDY: name, default, meaning, range, unit
	$(setup)
	@$(sanlab) studies --set="$$SET" --profile="$$PROFILE" -- "$$STUDY"

new: ## write a message layer of your own, named LAYER, from the template echo; FIRMWARE=c: also firmware in C
	$(setup)
	@$(sanlab) new layer --firmware="$${FIRMWARE:-python}" -- "$$LAYER"

docs: ## build the documentation site: sim_build/docs/html/index.html
	$(setup)
	@$(sanlab) docs

cluster: ## write the files of a cluster of this SHAPE: its HOSTS, switches, cables, and routes, checked
	$(setup)
	@$(sanlab) cluster --shape="$$SHAPE" --hosts="$$HOSTS" --ports="$$PORTS"

sim: ## run one block BENCH, its hardware as RTL or as NETLIST; what it leaves is in sim_build/<bench>/
	$(setup) $(simulator) $(if $(NETLIST),icarus)
	@$(sanlab) $(if $(NETLIST),netlist --echo --cells="$$NETLIST",sim) --sim="$$SIM" --seed="$$SEED" $(waves) -- "$$BENCH"

test-cluster: ## run the cocotb tests of a running cluster, or those of one TEST; results in sim_build/cluster_tests/
	$(setup) $(simulator)
	@SIM="$$SIM" SEED="$$SEED" WAVES=$(if $(waves),1) $(python) -m pytest "tests/cluster/$(if $(TEST),test_$$TEST.py)"

netlist: ## run all block benches, or one BENCH, on netlists of their hardware, on both simulators: for a schedule, hours
	$(setup) compiler icarus
	@$(sanlab) netlist --cells="$$NETLIST" --seed="$$SEED" -- $(if $(BENCH),"$$BENCH")

equivalence: ## prove that the netlists of small blocks are equal to their RTL
	$(setup)
	@$(sanlab) equivalence

board: ## make the bitstream of a DESIGN for the FPGA board BOARD, or with SIM=1 run a stand-in behind a port
	$(setup) $(if $(filter 1,$(SIM)),compiler)
	@$(sanlab) board --design="$$DESIGN" --slower="$$SLOWER" $(if $(filter 1,$(SIM)),--sim --seed="$$SEED" --netlist="$$NETLIST" $(if $(TCP),--tcp="$$TCP")) -- "$$BOARD"

lint: ## static checks of Python and HDL
	$(setup)
	@$(sanlab) lint

synth: ## map every block to cells of an FPGA: sizes and LUT levels, compared; no latches, divisions, loops
	$(setup)
	@$(sanlab) synth

pnr: ## place and route one BLOCK on an FPGA: clock rates, critical paths; all, and the table of the page, without BLOCK
	$(setup)
	@$(sanlab) pnr --profile="$$PROFILE" -- "$$BLOCK"

prove: ## prove properties of blocks over their own source
	$(setup)
	@$(sanlab) prove

mutants: ## put N small mistakes into the sources of a FOLDER, one at a time, and list those that no test detects
	$(setup) compiler
	@$(sanlab) mutants --seed="$$SEED" -- "$$FOLDER" "$$N"

waves: ## run one STUDY with waves, from FROM to TO, and leave views for GTKWave and Surfer
	$(setup) compiler $(if $(icarus),icarus,waves)
	@$(study) --waves --from="$$FROM" --to="$$TO" -- "$$STUDY"

timeline: ## write the timeline of the last run of STUDY, from FROM to TO, for Perfetto
	$(setup)
	@$(sanlab) timeline --from="$$FROM" --to="$$TO" -- "$$STUDY"

measure: ## measure intervals between conditions FROM and TO in the waves of the last run of STUDY, or in an FST or VCD file
	$(setup)
	@$(sanlab) measure --from="$$FROM" --to="$$TO" --within="$$WITHIN" --each="$$EACH" -- "$$STUDY"

explain: ## describe one MESSAGE of the last run of STUDY: times, waits and their causes, losses; runs it first if settings differ
	$(setup) $(simulator)
	@$(sanlab) explain --sim="$$SIM" --seed="$$SEED" --cluster="$$CLUSTER" --profile="$$PROFILE" --set="$$SET" \
	  --message="$$MESSAGE" -- "$$STUDY"

compare: ## list the changes between the results or sweeps A and B, largest first; fails above THRESHOLD
	$(setup)
	@$(sanlab) compare --threshold="$$THRESHOLD" -- "$$A" "$$B"

sweep: ## run one STUDY at every point of AXES on a Dask cluster: one table, one plot
	$(setup) $(simulator)
	@$(sanlab) sweep --sim="$$SIM" --seed="$$SEED" --cluster="$$CLUSTER" --profile="$$PROFILE" --set="$$SET" \
	  --axes="$$AXES" --scheduler="$$SCHEDULER" --workers="$$WORKERS" --plot="$$PLOT" --designs="$$DESIGNS" \
	  $(if $(filter-out 0,$(CSV)),--csv) -- "$$STUDY"

fuzz: ## run random programs of message layers with all features at once; a failing program is shrunk and printed
	$(setup) $(if $(filter rtl,$(ON)),$(simulator))
	@$(sanlab) fuzz --layer="$$LAYER" --seeds="$$SEEDS" --on="$$ON" --sim="$$SIM" --firmware="$$FIRMWARE" \
	  --pauses="$$PAUSES" --profile="$$PROFILE" \
	  --monitors="$$MONITORS" --scheduler="$$SCHEDULER" --workers="$$WORKERS"

campaign: ## inject single faults into memories, buses, links, NICs and hosts, and report their effects on messages
	$(setup) $(simulator)
	@$(sanlab) campaign --layer="$$LAYER" --profile="$$PROFILE" --seeds="$$SEEDS" --set="$$SET" --sim="$$SIM" \
	  --scheduler="$$SCHEDULER" --workers="$$WORKERS"

explore: ## search the small worlds of one message LAYER exhaustively: every order of turns, every single fault
	$(setup)
	@$(sanlab) explore --world="$$WORLD" --minutes="$$MINUTES" $(if $(filter-out 0,$(TABLE)),--table) -- "$$LAYER"

firmware: ## compile the C firmware of a message LAYER to its images, with clang-16
	$(setup)
	@$(sanlab) firmware -- "$$LAYER"

costs: ## count the instruction paths of a message LAYER again (all layers), with clang-16
	$(setup)
	@$(sanlab) costs -- $(if $(LAYER),"$$LAYER")

figures: ## draw all reproduced figures and tables of the papers on one page
	$(setup) $(simulator)
	@$(sanlab) figures --sim="$$SIM" $(if $(filter-out 0,$(QUICK)),--quick)

uncertainty: ## compute intervals of the figures of one STUDY from its assumed and calibrated values, with tornado plots
	$(setup) $(simulator)
	@$(sanlab) uncertainty --sim="$$SIM" --seed="$$SEED" --cluster="$$CLUSTER" --profile="$$PROFILE" --set="$$SET" \
	  --samples="$$SAMPLES" --scheduler="$$SCHEDULER" --workers="$$WORKERS" -- "$$STUDY"

calibrate: ## condition the assumed values of one FAMILY on its published values; predict each table from the others
	$(setup) $(simulator)
	@$(sanlab) calibrate --sim="$$SIM" --seed="$$SEED" --samples="$$SAMPLES" \
	  --scheduler="$$SCHEDULER" --workers="$$WORKERS" -- "$$FAMILY"

fidelity: ## write a page of all figures sorted by their agreement with the papers, in HTML, Markdown and JSON
	$(setup)
	@$(sanlab) fidelity --out=sim_build/fidelity

mpi4py: ## run mpi4py's own tests over the simulated MPI, on two ranks
	$(setup) compiler
	@$(sanlab) mpi4py --cluster="$$CLUSTER" --profile="$$PROFILE"

bench: ## measure the speed of the laboratory: wall time, and instructions a message
	$(setup) compiler waves
	@$(sanlab) bench

counts: ## count the instructions of a message with Callgrind, and list the changes since the committed counts
	$(setup) compiler
	@$(sanlab) counts

clean: ## remove what was generated: sim_build (the virtual environment and the builds in the user's cache stay)
	rm -rf sim_build

distclean: clean ## also remove the virtual environment and all caches
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find firmware pymodels tb tests -type d -name __pycache__ -prune -exec rm -rf {} +
	@if [ -f "$$VENV/pyvenv.cfg" ] || [ -f "$$VENV/sanlab.stamp" ]; then echo "rm -rf $$VENV"; rm -rf -- "$$VENV"; fi
