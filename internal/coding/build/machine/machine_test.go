package machine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/handoff"
)

// TestSequences runs the files of testdata. The first line is the policy. Every other line is an
// event, its fields as JSON, and the expected action:
//
//	built {"Verdict":"valid","Changed":true} -> checks
//
// The action may be followed by parts of the state as JSON.
func TestSequences(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sequences: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			playFile(t, file)
		})
	}
}

func playFile(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var state machine.State
	policy := machine.Policy{Rounds: 3, Attempts: 3}
	for i, line := range strings.Split(string(data), "\n") {
		where := fmt.Sprintf("%s:%d", file, i+1)
		switch name, rest, _ := strings.Cut(line, " "); name {
		case "", "#":
		case "policy":
			decode(t, where, rest, &policy)
		case "state":
			decode(t, where, rest, &state)
		default:
			before, after, ok := strings.Cut(rest, "-> ")
			if !ok {
				t.Fatalf("%s: no ->", where)
			}
			want, part, _ := strings.Cut(after, " ")
			if name == "resume" {
				var ok bool
				if state, ok = machine.Resume(state); fmt.Sprint(ok) != want {
					t.Errorf("%s: resume gives %v, want %s", where, ok, want)
				}
				contains(t, where, state, part)
				continue
			}
			var action machine.Action
			state, action = machine.Next(state, event(t, where, name, before), policy)
			if string(action) != want {
				t.Errorf("%s: %s gives %s, want %s", where, name, action, want)
			}
			contains(t, where, state, part)
		}
	}
}

func event(t *testing.T, where, name, fields string) machine.Event {
	switch name {
	case "begun":
		return machine.Begun{}
	case "ready":
		return machine.SetupDone{}
	case "built":
		return decoded[machine.Built](t, where, fields)
	case "checked":
		return decoded[machine.Checked](t, where, fields)
	case "diffed":
		return decoded[machine.Diffed](t, where, fields)
	case "inspected":
		return decoded[machine.Inspected](t, where, fields)
	case "stopped":
		return decoded[machine.Stopped](t, where, fields)
	}
	t.Fatalf("%s: no event %s", where, name)
	return nil
}

func decoded[E machine.Event](t *testing.T, where, fields string) machine.Event {
	var e E
	decode(t, where, fields, &e)
	return e
}

func decode(t *testing.T, where, text string, into any) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
}

// contains checks that the state has all fields of part. In objects, it compares only the fields
// that part has.
func contains(t *testing.T, where string, state machine.State, part string) {
	t.Helper()
	if strings.TrimSpace(part) == "" {
		return
	}
	decode(t, where, part, new(machine.State)) // fails if part has an unknown field
	var want, got map[string]any
	data, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, where, part, &want)
	decode(t, where, string(data), &got)
	for key, value := range want {
		if value != nil && !within(value, got[key]) || value == nil && got[key] != nil {
			t.Errorf("%s: %s is %v, want %v", where, key, got[key], value)
		}
	}
}

func within(want, got any) bool {
	object, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(want, got)
	}
	other, _ := got.(map[string]any)
	for key, value := range object {
		if !within(value, other[key]) {
			return false
		}
	}
	return true
}

// FuzzNext checks that every sequence of events ends the run within a limited number of steps. A
// state that was stored as JSON and loaded again continues in the same way.
func FuzzNext(f *testing.F) {
	f.Add([]byte{1, 2, 9, 10, 5, 6, 7}, uint8(3), uint8(3), false)
	f.Add(bytes.Repeat([]byte{0, 1, 4, 5, 6, 8}, 30), uint8(2), uint8(1), false)
	f.Add([]byte{3, 3, 3, 3, 3}, uint8(1), uint8(2), true)
	f.Fuzz(func(t *testing.T, choices []byte, rounds, attempts uint8, review bool) {
		policy := machine.Policy{Rounds: 1 + int(rounds%4), Attempts: 1 + int(attempts%4)}
		state, action := machine.Next(machine.State{Review: review}, machine.Begun{}, policy)
		verdicts := []machine.Verdict{machine.Valid, machine.Crashed, machine.Invalid, machine.OutOfTime, machine.Violated, machine.Valid}
		steps, most := 0, 2+policy.Rounds*(2*policy.Attempts+2)
		for n := 0; state.End == nil; n++ {
			choice := n // after the fuzzed choices, the step number decides
			if n < len(choices) {
				choice = int(choices[n])
			}
			odd := choice%2 == 1
			var e machine.Event
			switch action {
			case machine.DoSetup:
				e = machine.SetupDone{}
			case machine.DoBuild:
				e = machine.Built{Verdict: verdicts[choice%len(verdicts)], Changed: choice%7 > 0}
			case machine.DoChecks:
				e = machine.Checked{Checks: []machine.Check{{Name: "test", Required: odd, Passed: choice%3 > 0}}}
			case machine.DoDiff:
				e = machine.Diffed{}
			case machine.DoEnd:
				t.Fatalf("the action is to end, and the state is %+v", state)
			case machine.DoInspect:
				e = machine.Inspected{Verdict: verdicts[choice%len(verdicts)], Approved: choice%5 == 0, Issues: []handoff.Issue{{Severity: "major", Description: fmt.Sprint(choice), Paths: []string{"a"}}}}
			}
			data, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			var stored machine.State
			if err := json.Unmarshal(data, &stored); err != nil {
				t.Fatal(err)
			}
			again, _ := machine.Next(stored, e, policy)
			state, action = machine.Next(state, e, policy)
			if !same(t, again, state) {
				t.Fatalf("a stored state goes on as %+v, the state itself as %+v", again, state)
			}
			if state.Round > policy.Rounds || state.Attempt > policy.Attempts {
				t.Fatalf("round %d and attempt %d of %+v", state.Round, state.Attempt, policy)
			}
			if steps++; steps > most {
				t.Fatalf("%d steps, want at most %d", steps, most)
			}
		}
		if state.End == nil || (state.End.Status == machine.Approved) != (state.End.Reason == "") {
			t.Fatalf("it ended with %+v", state.End)
		}
	})
}

func same(t *testing.T, a, b machine.State) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return bytes.Equal(x, y)
}
