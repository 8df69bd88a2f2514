"""Studies that only tests ask for: each provokes one thing. They are named by their module:
`tests.system.scenarios.<name>`.
"""
