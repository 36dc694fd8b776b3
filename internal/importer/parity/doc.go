// Package parity compares imported configurations with the actions that they come from.
//
// Each file below testdata/cases is a real configuration, reduced to its rules. It also contains
// events, and the state that the original action left behind after each event. The tests import the
// configuration, run Foreman on the same events against a fake GitHub, and compare the states.
// Every difference must be listed in the file with its reason; testdata/README.md describes the
// format.
//
// With the flag -originals, the original actions run, too. This needs node and the published files
// of the actions: see docs/proof/import.md.
package parity
