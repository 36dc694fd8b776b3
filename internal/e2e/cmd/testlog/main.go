// Command testlog reads the output of go test -json and prints go test's own lines:
//
//	go test -json ./... | testlog [-v] [-skips FILE]
//
// For a package that passed, it prints the last line. For a failed package, it prints everything
// except lines about the progress of tests. With -v it prints every line immediately. It appends a
// line to FILE for each skipped test, with the reason. It exits with 1 when anything failed.
//
// It exists because a plain log mixes the lines of parallel tests, so that the reason of a skipped
// test cannot be assigned to its test.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "print the whole log as it is produced")
	skips := flag.String("skips", "", "append the skipped tests to this `file`")
	flag.Parse()
	l := newTestLog(os.Stdout, *verbose)
	err := l.read(os.Stdin)
	if err == nil && *skips != "" {
		err = add(*skips, l.skips)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
	}
	if err != nil || l.failed {
		os.Exit(1)
	}
}

// add appends lines to the file at path.
func add(path string, lines []string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := f.WriteString(line + "\n"); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
