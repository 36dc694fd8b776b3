package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestClosedPipe closes the output early: the program does not end by SIGPIPE. It finishes its
// writes to GitHub, then ends with an error.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"rules", "schema"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var errs strings.Builder
		cmd := exec.CommandContext(t.Context(), "foreman", args...)
		cmd.Stdout, cmd.Stderr = w, &errs
		err = cmd.Run()
		w.Close()
		exit, ended := errors.AsType[*exec.ExitError](err)
		if !ended || exit.ExitCode() != 1 || !strings.Contains(errs.String(), "write to standard output: ") {
			t.Errorf("%v: got %v and %q", args, err, errs.String())
		}
	}
}
