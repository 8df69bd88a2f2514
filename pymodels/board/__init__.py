"""Contract between a board and its host: address map, serial protocol, trace ring and identity.

`python -m pymodels.board.map` writes `hdl/board/myri_board_pkg.sv`; a test compares the committed file.
"""
