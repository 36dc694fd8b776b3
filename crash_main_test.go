package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/triage"
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

// crashDatabaseProgram is the name of the program that keeps its memory in SQLite, as the server does, and else
// does what the action does.
const crashDatabaseProgram = "foreman-with-a-database"

// crashDatabase is the name of the memory of that program, and of its file.
const crashDatabase = "sqlite"

func crashDatabaseMain() {
	if err := runWithDatabase(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runWithDatabase(ctx context.Context) error {
	epoch, err := strconv.ParseInt(os.Getenv(crashEpoch), 10, 64)
	if err != nil {
		return err
	}
	clock, dir, repo := fastClock{time.Unix(0, epoch)}, os.Getenv("GITHUB_WORKSPACE"), os.Getenv("GITHUB_REPOSITORY")
	payload, err := os.ReadFile(os.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return err
	}
	d, err := triage.ParseEvent(triage.EventSource{Name: os.Getenv("GITHUB_EVENT_NAME"), Repo: repo, Payload: payload})
	if err != nil {
		return err
	}
	src, err := os.ReadFile(filepath.Join(dir, ".github/foreman.yml"))
	if err != nil {
		return err
	}
	c, err := config.Parse("foreman.yml", src, os.Getenv)
	if err != nil {
		return err
	}
	client, err := remote.Access{Token: "t0ken", APIURL: os.Getenv("GITHUB_API_URL"), Now: clock.now, Sleep: clock.sleep}.Client()
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, filepath.Join(dir, crashDatabase), sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	r, err := runner.New(runner.Options{
		Config: c, Host: remote.HostOf(client, ""), Clock: runner.Clock{Now: clock.now, Sleep: clock.sleep}, Live: true,
		Memory: runner.Memory{Store: store.Memory(), Agenda: store.Memory(), Journal: store.Journal(), Required: true},
	})
	if err != nil {
		return err
	}
	task := runner.TaskIdentity{
		ID: protocol.DeriveTaskID(os.Getenv("GITHUB_RUN_ID")), Nonce: rand.Text(), First: os.Getenv("GITHUB_RUN_ATTEMPT") == "1",
	}
	if d.Name == triage.EventSchedule {
		_, err = r.Sweep(ctx, task, d)
		return err
	}
	_, err = r.Run(ctx, task, d)
	return err
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
