"""The training of the embedded judges on one GPU; `README.md` has the commands and figures."""
