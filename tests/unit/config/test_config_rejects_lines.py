"""Error texts for mistakes in the lines, the structure, the names and the files of a configuration.

Strategy: a valid cluster of two hosts is changed in one place for each mistake, and the whole message is compared:
file, line, subject, cause and remedy. The table below lists the mistakes; a new check needs a row. The first mistake is
reported. Arbitrary text must raise no other error than ConfigError.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.config import load_cluster
from pymodels.config.grammar import IN_CONFIG_FILE, IN_RESOURCE_FILE
from pymodels.errors import ConfigError
from tests.unit.config.configfiles import (
    AS_PRINTED,
    CONFIG,
    NO_ROUTES,
    RESOURCE,
    ROUTES,
    error_text,
    put,
    swapped,
)

MISTAKES: dict[str, tuple[dict[str, str], str]] = {
    # The form of lines
    "unknown keyword": (
        swapped(CONFIG, "HOST metz", "HOTS metz"),
        "grim_config:10: unknown keyword: 'HOTS'; did you mean 'HOST'?",
    ),
    "keyword in small letters": (
        swapped(CONFIG, "HOST metz", "host metz"),
        "grim_config:10: unknown keyword: 'host'; did you mean 'HOST'?",
    ),
    "unknown keyword in the resource file": (
        {RESOURCE: "SWICH s0 8\n"},
        "French_cluster_config.txt:1: unknown keyword: 'SWICH'; did you mean 'SWITCH'?",
    ),
    "keyword of the other file": (
        {RESOURCE: "\nHOST paris\n"},
        "French_cluster_config.txt:2: HOST in a resource file: it belongs to the application configuration file; "
        "move it there",
    ),
    "too few words": (
        swapped(CONFIG, "HOST metz", "HOST"),
        "grim_config:10: too few words after HOST: 0 given; write HOST <name>",
    ),
    "too many words": (
        swapped(CONFIG, "HOST metz", "HOST metz now"),
        "grim_config:10: too many words after HOST: 2 given; write HOST <name>",
    ),
    "too few words in a line of the host map": (
        swapped("hosts", "metz 1", "metz"),
        "hosts:2: too few words after metz: 0 given; write <host> <physical_ID>",
    ),
    "too many words with an optional one": (
        {RESOURCE: "LINK a 1 b 2 3 4\n"},
        "French_cluster_config.txt:1: too many words after LINK: 6 given; "
        "write LINK <node> <port> <node> <port> [metres]",
    ),
    "given twice": (
        {CONFIG: "NUM_NODES 2\nNUM_NODES 2\n"},
        "grim_config:2: NUM_NODES given twice: first at grim_config:1; remove one",
    ),
    "given in both files": (
        {RESOURCE: "ROUTING_MYRI x\n"},
        "French_cluster_config.txt:1: ROUTING_MYRI given twice: first at grim_config:4; remove one",
    ),
    "bad host name": (
        swapped(CONFIG, "HOST metz", "HOST 2nd"),
        "grim_config:10: bad host name: '2nd'; a letter, then letters, digits, '_', '.' or '-'",
    ),
    "no text": (
        {CONFIG: ""},
        "grim_config: no cluster: the file has no CLUSTER line; add CLUSTER <name> and its hosts",
    ),
    # Structure
    "cluster without hosts": (
        {CONFIG: "\nCLUSTER empty\n"},
        "grim_config:2: cluster without hosts: 'empty' has no HOST line; add HOST <name> and USE MYRI",
    ),
    "host outside a cluster": (
        {CONFIG: "HOST paris\n"},
        "grim_config:1: HOST outside a cluster: no CLUSTER line before it; begin with CLUSTER <name>",
    ),
    "card outside a host": (
        {CONFIG: "CLUSTER c\nUSE MYRI\n"},
        "grim_config:2: USE outside a host: no HOST line before it; begin with HOST <name>",
    ),
    "which cluster": (
        {CONFIG: AS_PRINTED + "CLUSTER other\nHOST x\n"},
        "grim_config:13: which cluster: the file has 2 clusters (French_cluster, other) and no host was named; "
        "name a host of yours by GRIM_HOST: its cluster is taken",
    ),
    # Duplicate names
    "duplicate host": (
        swapped(CONFIG, "HOST metz", "HOST paris"),
        "grim_config:10: duplicate name 'paris': HOST paris is already at grim_config:6; "
        "list each host once in the whole file, since its name selects the cluster",
    ),
    "duplicate host in another cluster": (
        {CONFIG: AS_PRINTED + "CLUSTER other\nHOST metz\n"},
        "grim_config:14: duplicate name 'metz': HOST metz is already at grim_config:10; "
        "list each host once in the whole file, since its name selects the cluster",
    ),
    "duplicate cluster": (
        {CONFIG: AS_PRINTED + "CLUSTER French_cluster\n"},
        "grim_config:13: duplicate name 'French_cluster': two clusters carry it; rename one of them",
    ),
    "duplicate card": (
        swapped(CONFIG, "USE CELOXICA", "USE MYRI"),
        "grim_config:8: duplicate name 'MYRI': host 'paris' already uses it at grim_config:7; remove one USE line",
    ),
    "duplicate switch": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nSWITCH s0 4\n"},
        "French_cluster_config.txt:2: duplicate name 's0': another switch or host carries it; rename one of them",
    ),
    "switch named like a host": (
        NO_ROUTES | {RESOURCE: "SWITCH metz 4\n"},
        "French_cluster_config.txt:1: duplicate name 'metz': another switch or host carries it; rename one of them",
    ),
    "duplicate host in the map": (
        {"hosts": "paris 0\nmetz 1\nparis 2\n"},
        "hosts:3: duplicate name 'paris': already at hosts:1; remove one line",
    ),
    "duplicate source of routes": (
        {ROUTES: "0 1:81\n1 0:BF\n0 1:81\n"},
        "grim_routes_myri.txt:3: duplicate name 'paris': its routes are already at grim_routes_myri.txt:1; "
        "one line per source",
    ),
    "the same route again": (
        {ROUTES: "0 1:81 metz:81\n"},
        "grim_routes_myri.txt:1: the same route again: 81 leads from 'paris' to 'metz' twice; "
        "keep one of the two, or give another way",
    ),
    # Missing files
    "missing resource file": (
        swapped(CONFIG, "French_cluster_config.txt", "French.txt"),
        "grim_config:3: missing file: cannot read 'French.txt' (No such file or directory); "
        "create it or correct the name; its path is relative to the folder of grim_config",
    ),
    "missing routes": (
        swapped(CONFIG, "grim_routes_myri.txt", "routes.txt"),
        "grim_config:4: missing file: cannot read 'routes.txt' (No such file or directory); "
        "create it or correct the name; its path is relative to the folder of grim_config",
    ),
    "missing host map": (
        swapped(RESOURCE, "HOST_MAP_MYRI hosts", "HOST_MAP_MYRI host"),
        "French_cluster_config.txt:1: missing file: cannot read 'host' (No such file or directory); "
        "create it or correct the name; its path is relative to the folder of French_cluster_config.txt",
    ),
    "missing circuits": (
        swapped(RESOURCE, "CIRCUITS_CELOXICA circuits", "CIRCUITS_CELOXICA circuit"),
        "French_cluster_config.txt:2: missing file: cannot read 'circuit' (No such file or directory); "
        "create it or correct the name; its path is relative to the folder of French_cluster_config.txt",
    ),
}


@pytest.mark.parametrize(("changed", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistake_is_named(tmp_path: Path, changed: dict[str, str], text: str) -> None:
    assert error_text(tmp_path, changed) == text


def test_unknown_host_of_a_cluster_is_rejected(tmp_path: Path) -> None:
    text = "grim_config: unknown host: 'mets' is in no CLUSTER of this file; did you mean 'metz'?"
    assert error_text(tmp_path, {}, host="mets") == text


def test_missing_configuration_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "absent"
    with pytest.raises(ConfigError) as error:
        load_cluster(path)
    text = f"{path}: missing file: cannot read '{path}' (No such file or directory); create it or correct the name"
    assert str(error.value) == text


def test_configuration_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    path = put(tmp_path)
    path.write_bytes(b"HOST \xff\n")
    with pytest.raises(ConfigError) as error:
        load_cluster(path)
    assert str(error.value) == f"{path}: not a text file: byte 5 is not UTF-8; name a configuration file"


WORDS = st.sampled_from([*IN_CONFIG_FILE, "paris", "metz", "s0", "0", "1", "-1", "8", "MYRI", "x:y", "}", "!--"])
LINES = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=12).map("\n".join)


@given(config=LINES, resource=LINES, routes=LINES, hosts=LINES)
def test_arbitrary_text_raises_nothing_but_a_configuration_error(
    tmp_path_factory: pytest.TempPathFactory, config: str, resource: str, routes: str, hosts: str
) -> None:
    folder = tmp_path_factory.mktemp("words")
    path = put(folder, **{CONFIG: AS_PRINTED + config, RESOURCE: resource, ROUTES: routes, "hosts": hosts})
    with contextlib.suppress(ConfigError):
        load_cluster(path)


def test_resource_keywords_are_valid_in_both_files() -> None:
    assert IN_RESOURCE_FILE.keys() < IN_CONFIG_FILE.keys()
