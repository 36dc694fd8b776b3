//go:build unix

package build_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/build"
)

// TestPipes lets agents put named pipes in place of Foreman's files, and links to the user's. The run ends,
// and nothing is written through a link.
func TestPipes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ builder, inspector string }{
		"events":             {`rm -f $RUN/events.jsonl; mkfifo $RUN/events.jsonl; `, ""},
		"the diff":           {"", once("i", `rm $RUN/change.diff; mkfifo $RUN/change.diff; exit 1`, "")},
		"the list of files":  {"", once("i", `rm $RUN/change.stat; mkfifo $RUN/change.stat; exit 1`, "")},
		"the index":          {`rm $C/.git/index; mkfifo $C/.git/index; `, ""},
		"the probe":          {`mkfifo ../.probe $RUN/.probe; exit 1; `, ""},
		"the probe, a link":  {`ln -s $C/../users ../.probe; ln -s $C/../users $RUN/.probe; exit 1; `, ""},
		"the guard's files":  {`rm ../checkout.json ../checkout.index; mkfifo ../checkout.json ../checkout.index; `, ""},
		"the clone's index":  {`rm ../builder.index; mkfifo ../inspector.index; `, ""},
		"another clone":      {`mkfifo ../inspector; ln -s /nonexistent ../checks; `, ""},
		"the state":          {`rm $RUN/state.json; mkfifo $RUN/state.json; `, ""},
		"the report, a link": {`ln -s $C/../users $RUN/report.json; `, ""},
		"a saved file":       {`mkdir $RUN/attempts/1-builder-1/outside; mkfifo $RUN/attempts/1-builder-1/outside/a.txt; echo bad >$C/a.txt; `, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const where = `C="$(cat .git/objects/info/alternates)/../.."; RUN="$C/.foreman/runs/t-1"; `
			consumer := newConsumer(t, where+c.builder+work+result("builder", built), where+c.inspector+result("inspector", approved), "limits: {attempts: 2}\n")
			users := filepath.Join(consumer.root, "../users")
			if err := os.WriteFile(users, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			ended := make(chan string, 1)
			go func() {
				report, err := build.Run(t.Context(), options(consumer.root, consumer.state))
				_, resumed := build.Resume(t.Context(), options(consumer.root, consumer.state))
				_, cleaned := build.Clean(t.Context(), options(consumer.root, consumer.state))
				ended <- string(report.Status) + " " + text(err) + " " + text(resumed) + " " + text(cleaned)
			}()
			select {
			case how := <-ended:
				t.Log(how)
			case <-time.After(time.Minute):
				t.Error("it hangs")
			}
			if data, err := os.ReadFile(users); err != nil || string(data) != "mine" {
				t.Errorf("the user's file has %.99q %v", data, err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}
