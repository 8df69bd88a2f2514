"""First steps from Python, in cells for Jupyter and editors."""

# %% One run: the metrics of the command line, as numbers.
import sanlab

run = sanlab.run("grim_pingpong", size=64, seed=3)
print(run)  # in a notebook, `run` alone shows a table
print(f"a message of 64 bytes takes {run.metrics['one_way_us_64B']:.3f} us")

# %% Curves are numpy arrays. A switch with ten times the fall-through latency adds its time to every size.
slow = sanlab.run("grim_pingpong", {"switch.fall_through_ns": 1000}, largest=64)
fast = sanlab.run("grim_pingpong", largest=64)
added = slow.series["one_way"].y - fast.series["one_way"].y
print(f"added: {added.min():.2f} to {added.max():.2f} us")

# %% The trace is an array too: how far apart are the calls of send?
calls = fast.trace[fast.trace["event"] == sanlab.events()["SEND_CALL"]]
print(f"{len(calls)} sends in {(calls['time'][-1] - calls['time'][0]) / 1e6:.1f} us")

# %% Errors are exceptions with the text of the command line.
try:
    sanlab.run("grim_pingpong", larges=64)
except sanlab.RefusedError as error:
    print(error)
