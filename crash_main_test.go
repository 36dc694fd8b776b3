package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/wait"
)

// crashProgram is the name of the program that [TestCrash] kills. It is foreman with a fast clock.
const crashProgram = "foreman-with-a-fast-clock"

// crashEpoch is the variable with the time at which a fast clock was right, in nanoseconds since
// 1970.
const crashEpoch = "FAST_CLOCK_EPOCH"

// A fastClock is a clock on which [crashSpeed] seconds pass in each real one, so that the test need
// not wait as long as GitHub may take for a request. The zero value is not usable.
type fastClock struct{ epoch time.Time }

const crashSpeed = 20

func (c fastClock) now() time.Time { return c.epoch.Add(time.Since(c.epoch) * crashSpeed) }

// sleep waits for d on the fast clock.
func (fastClock) sleep(ctx context.Context, d time.Duration) error {
	return wait.For(ctx, d/crashSpeed)
}

// crashMain is main with a fast clock.
func crashMain() {
	epoch, err := strconv.ParseInt(os.Getenv(crashEpoch), 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	clock := fastClock{time.Unix(0, epoch)}
	env := process.Env{
		Getenv: os.Getenv, Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: os.Args[0],
		Now: clock.now, Sleep: clock.sleep,
	}
	os.Exit(cli.Main(context.Background(), env, os.Args[1:]))
}
