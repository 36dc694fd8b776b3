package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/queue"
)

// FuzzEncode checks that each task is one line of JSON in valid UTF-8 that controls no terminal,
// whatever its texts are.
func FuzzEncode(f *testing.F) {
	f.Add("t", "http://a/", "why", []byte(`{"a":1}`), []byte(`{"version":1,"status":"applied","actions":[{"type":"add_label","label":"x"}]}`))
	f.Add("\n", "\u2028\u202e\x1b[31m\x00", "\xff\xfe", []byte("{\n\"a\":\n\"\u202e\"}"), []byte(`{"by":"\u001b]0;x\u0007"}`))
	f.Add("", "", "", []byte("\"\xff\""), []byte(`{"version":99}`))
	f.Add("", "", "", []byte("{\"a\":\"\u2029\x7f\"}"), []byte(`[]`))
	f.Fuzz(func(t *testing.T, id, agent, reason string, message, report []byte) {
		at := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
		d := queue.Details{
			Info:    queue.Info{Seq: 7, ID: id, Agent: agent, Reason: reason, Repo: agent, State: queue.Done, Enqueued: at, Claimed: at, Completed: at, Ended: at},
			Message: message, Origin: message, Result: message, Report: report,
		}
		data, err := encode(d, true)
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Seq int64  `json:"seq"`
			ID  string `json:"task_id"`
		}
		if err := json.Unmarshal(data, &back); err != nil || back.Seq != 7 || back.ID != strings.ToValidUTF8(id, "\ufffd") && utf8.ValidString(id) {
			t.Errorf("got %q, %v", data, err)
		}
		line := bytes.TrimSuffix(data, []byte("\n"))
		if !utf8.Valid(data) || len(line) != len(data)-1 || bytes.ContainsAny(line, "\n\r\x1b\x00\u2028\u2029\u202e\x7f") {
			t.Errorf("got %q, want one line without control characters", data)
		}
	})
}

// TestEncode pins the format that programs read.
func TestEncode(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	d := queue.Details{
		Info: queue.Info{
			Seq: 12, ID: "t1", Agent: "http://a/", Repo: "o/r", Issue: 7, State: queue.Done, Attempt: 1,
			Enqueued: at, Claimed: at.Add(2 * time.Second), Completed: at.Add(3500 * time.Millisecond), Ended: at.Add(3 * time.Second),
		},
		Message: []byte(`{"x": 1}`), Result: []byte("not JSON\n"),
		Report: []byte(`{"version":1,"decision":"label_and_respond","by":"http://a/","status":"applied","executed":1,"actions":[{"type":"add_label","params":{"label":"bug"},"result":"done","source":"rule stale"}]}`),
	}
	for name, tt := range map[string]struct {
		texts bool
		want  string
	}{
		"facts": {false, `{"seq":12,"task_id":"t1","state":"done","agent":"http://a/","repo":"o/r","issue":7,"attempt":1,"tries":0,"asks":0,"priority":0,` +
			`"enqueued":"2026-04-10T08:30:00Z","claimed":"2026-04-10T08:30:02Z","completed":"2026-04-10T08:30:03.5Z","ended":"2026-04-10T08:30:03Z",` +
			`"waiting_seconds":2,"deciding_seconds":1.5,"applying_seconds":0,"outcome":"applied","decision":"label_and_respond","by":"http://a/","executed":1,` +
			`"actions":[{"type":"add_label","result":"done","source":"rule stale"}]}`},
		"texts": {true, `"message":{"x":1},"origin":null,"result":"not JSON\n"}`},
	} {
		data, err := encode(d, tt.texts)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(string(data), "\n"); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
	open, err := encode(queue.Details{Info: queue.Info{Seq: 1, ID: "t2", State: queue.Pending, Enqueued: at}}, false)
	if err != nil || strings.Contains(string(open), "0001-01-01") || strings.Contains(string(open), "outcome") || strings.Contains(string(open), "_seconds") {
		t.Errorf("got %s, %v, want no times that were not reached", open, err)
	}
}
