// Package parity compares imported configurations with the actions that they come from.
//
// Each file below testdata/cases is a real configuration, reduced to its rules, with events
// and the state that the original action left behind for each of them. The tests import the
// configuration, run ours on the same events against the fake GitHub and compare the states.
// A difference has to be listed in the file with its reason; testdata/README.md describes
// the format. With -originals, the original actions run beside ours, which needs node and
// their published files: see docs/proof/import.md.
package parity
