package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"time"
)

const warmups = 3

// A scenario is one way to start a program. prepare makes the next run's command and
// a check of what it did; the check may be nil.
type scenario struct {
	name    string
	prepare func() (command, func() error, error)
}

type command struct {
	launch string
	path   string
	args   []string
	env    []string
	dir    string
}

// A sample contains the times, the peak memory and the number of calls to GitHub of one run.
type sample struct {
	wall, cpu time.Duration
	rssKiB    int64
	calls     int
}

// A result is a scenario with its measured runs.
type result struct {
	name    string
	samples []sample
}

// measure runs every scenario n times, round-robin, after some rounds that warm up.
func measure(scenarios []scenario, n int, calls func() int) ([]result, error) {
	results := make([]result, len(scenarios))
	for i, s := range scenarios {
		results[i].name = s.name
	}
	for round := range warmups + n {
		for i, s := range scenarios {
			sample, err := once(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			sample.calls = calls()
			if round >= warmups {
				results[i].samples = append(results[i].samples, sample)
			}
		}
	}
	return results, nil
}

func once(s scenario) (sample, error) {
	c, check, err := s.prepare()
	if err != nil {
		return sample{}, err
	}
	taken, err := c.run()
	if err != nil || check == nil {
		return taken, err
	}
	return taken, check()
}

// run starts the command through the launch program and reads its report.
func (c command) run() (sample, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return sample{}, err
	}
	defer reader.Close()
	var output bytes.Buffer
	cmd := exec.Command(c.launch, append([]string{c.path}, c.args...)...)
	cmd.Env, cmd.Dir = c.env, c.dir
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.ExtraFiles = []*os.File{writer}
	err = cmd.Run()
	writer.Close()
	if err != nil {
		return sample{}, fmt.Errorf("launch: %w\n%s", err, output.Bytes())
	}
	var wall, cpu, rss int64
	var code int
	if _, err := fmt.Fscan(reader, &wall, &cpu, &rss, &code); err != nil {
		return sample{}, fmt.Errorf("read the report of launch: %w", err)
	}
	if code != 0 {
		return sample{}, fmt.Errorf("exit code %d\n%s", code, output.Bytes())
	}
	return sample{wall: time.Duration(wall), cpu: time.Duration(cpu), rssKiB: rss}, nil
}
