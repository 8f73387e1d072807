"""The algorithms of LSCE: the default one and the published one."""
