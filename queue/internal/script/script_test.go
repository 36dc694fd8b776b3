package script_test

import (
	"runtime"
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
	"github.com/org/foreman-action/queue/queuetest"
)

// A recorder is a testing.TB that only records whether the test failed.
type recorder struct {
	testing.TB

	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Fatal(...any) {
	r.failed = true
	runtime.Goexit()
}

func (r *recorder) Fatalf(string, ...any) { r.Fatal() }

// TestPlay runs correct scripts, and scripts with one step that must fail.
func TestPlay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		script string
		fails  bool
	}{
		{"enqueue 1..3 # a comment\nclaims 1..3\nshow 1 -> claimed", false},
		{"repeat 3\nenqueue\nend\nlist -> 3..1", false},
		{"enqueue 1 wait=1m -> ready=+1m\nadvance -1h30m\nshow 1 -> ready=+1h31m enqueued=+1h30m", false},
		{`enqueue 1 message="{\"for\": \"<1>\"}"` + "\n" + `show 1 -> message="{\"for\": \"<1>\"}" message~for result=none seq=*`, false},
		{"claim -> empty\nshow 1 -> notfound\nclaim lease=0s -> error", false},
		{"enqueue 1..3\nclaim 2\nclaim 2 -> empty\nclaims 1 3\nclaim <4> -> empty", false},
		{"enqueue 1\nclaim 2", true},
		{"enqueue 1 2\nclaim 1 2", true},
		{"enqueue 1 2\nclaim 2 -> 1", true},
		{"jump", true},
		{"B", true},
		{"enqueue 1 colour=red", true},
		{"enqueue 1 message=\"x", true},
		{"repeat 3\nenqueue", true},
		{"repeat x\nenqueue\nend", true},
		{"claim", true},
		{"enqueue 1\nenqueue 1", true},
		{"enqueue 1\nenqueue 2 -> duplicate 2", true},
		{"enqueue 1 -> error", true},
		{"show 1 -> lost", true},
		{"enqueue 1 2\nclaims 1", true},
		{"enqueue 1 2\nclaims 2 1", true},
		{"enqueue 1\nshow 1 -> claimed", true},
		{"enqueue 1\nshow 1 -> attempt=1", true},
		{"enqueue 1\nshow 1 -> colour=red", true},
		{"enqueue 1\nshow 1 -> result=*", true},
		{"enqueue 1\nshow 1 -> message~other", true},
		{"enqueue 1\nclaim -> 1 attempt=1 only", true},
		{"enqueue 1\nclaim\ncomplete 1 -> refused", true},
		{"enqueue 1\ncomplete 1\nrequeue\ndrain -> none", true},
		{"slot 1/1 -> none", true},
		{"slot 1/1 -> 0s 0s", true},
		{"slot 1/1 -> 0s full=1m", true},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			t.Parallel()
			clock := queuetest.NewClock()
			o := queue.Options{Now: clock.Now}
			q, slots := queue.New(o), queue.NewSlots(o)
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				script.NewPlayer(r, script.Pair{A: q, B: q, SlotsA: slots, SlotsB: slots, PausesA: q, PausesB: q, Clock: clock}).Play(tt.script)
			}()
			<-done
			if r.failed != tt.fails {
				t.Errorf("failed: got %t, want %t", r.failed, tt.fails)
			}
		})
	}
}
