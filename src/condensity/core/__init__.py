"""Pure mathematics: arrays in, arrays out; no I/O, no state, no global randomness."""
