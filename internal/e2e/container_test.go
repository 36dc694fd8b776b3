package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestContainer runs the image as the Actions runner does. Its subtests share one image. Other
// tests use the layers that it leaves in the builder's cache.
func TestContainer(t *testing.T) {
	needEngine(t)
	build(t)
	host := bridge(t)

	t.Run("weight", func(t *testing.T) { weigh(t, image) })
	t.Run("an event becomes a label and a comment", func(t *testing.T) { labelAndComment(t, host) })
	t.Run("a second attempt writes nothing twice", func(t *testing.T) { secondAttempt(t, host) })
	t.Run("no token", func(t *testing.T) { noToken(t, host) })
	t.Run("a mistake in the configuration", func(t *testing.T) { brokenConfig(t, host) })
	t.Run("no event", func(t *testing.T) { noEvent(t, host) })
	t.Run("time", func(t *testing.T) { timeRuns(t, host) })
}

func labelAndComment(t *testing.T, host string) {
	gh := fake(t, host)
	s := newStep(t, gh.URL, "testdata/foreman.yml")
	if code := s.run(); code != 0 {
		t.Fatalf("got exit code %d, want 0\n%s", code, s.Log())
	}
	issue := gh.Issue(repo, number)
	if want := []string{"bug", "documentation"}; !slices.Equal(issue.Labels, want) {
		t.Errorf("got the labels %q, want %q", issue.Labels, want)
	}
	if len(issue.Comments) != 1 || !strings.HasSuffix(issue.Comments[0].Body, " -->\n\nThanks "+author+", a pull request is welcome.") {
		t.Errorf("got the comments %+v, want one that thanks the author", issue.Comments)
	}
	outputs := s.Outputs()
	want := map[string]string{"decision": "label_and_respond", "status": "applied"}
	for name, value := range want {
		if outputs[name] != value {
			t.Errorf("output %s: got %q, want %q", name, outputs[name], value)
		}
	}
	if !strings.Contains(s.Summary(), "documentation") {
		t.Errorf("got the summary\n%s\nwant the label in it", s.Summary())
	}
	if strings.Contains(s.Log()+s.Summary(), token) {
		t.Error("the token stands in the log or the summary")
	}
	s.Untouched()
	if t.Failed() {
		t.Logf("log:\n%s\ncalls: %q", s.Log(), gh.Log())
	}
}

// timeRuns logs the time of "docker run" for an issue that gets a label and a comment. In turn, it
// times an image whose program does nothing. It sets no limit, because the machine may be busy.
func timeRuns(t *testing.T, host string) {
	const runs = 11
	_, job := images(t)
	var ours, nothing []time.Duration
	for range runs {
		gh := fake(t, host)
		s := newStep(t, gh.URL, "testdata/foreman.yml")
		start := time.Now()
		if code := s.run(); code != 0 {
			t.Fatalf("got exit code %d, want 0\n%s", code, s.Log())
		}
		ours = append(ours, time.Since(start))
		if comments := len(gh.Issue(repo, number).Comments); comments != 1 {
			t.Errorf("got %d comments, want 1", comments)
		}
		start = time.Now()
		output(t, ".", "docker", "run", "--rm", job, "true")
		nothing = append(nothing, time.Since(start))
	}
	for _, list := range [][]time.Duration{ours, nothing} {
		slices.Sort(list)
	}
	t.Logf("docker run to its end, %d runs each: median %d ms, fastest %d ms; of an image that runs true: median %d ms, fastest %d ms",
		runs, ours[runs/2].Milliseconds(), ours[0].Milliseconds(), nothing[runs/2].Milliseconds(), nothing[0].Milliseconds())
}

func secondAttempt(t *testing.T, host string) {
	gh, event := fake(t, host), opened(t) // both attempts get the same event
	for _, attempt := range []string{"1", "2"} {
		s := newStep(t, gh.URL, "testdata/foreman.yml")
		s.setEvent(event)
		s.Setenv("GITHUB_RUN_ATTEMPT", attempt)
		if code := s.run(); code != 0 {
			t.Fatalf("attempt %s: got exit code %d, want 0\n%s", attempt, code, s.Log())
		}
	}
	if comments := gh.Issue(repo, number).Comments; len(comments) != 1 {
		t.Errorf("got %d comments, want 1: %q", len(comments), gh.Log())
	}
}

func noToken(t *testing.T, host string) {
	gh := fake(t, host)
	s := newStep(t, gh.URL, "testdata/foreman.yml")
	s.SetInput("token", "")
	refused(t, s, "token")
	untouched(t, gh.Log())
}

func brokenConfig(t *testing.T, host string) {
	gh := fake(t, host)
	s := newStep(t, gh.URL, "testdata/broken.yml")
	refused(t, s, "isue")
	var found bool
	for _, c := range s.Commands() {
		found = found || c.Name == "error" && c.Properties["file"] == ".github/foreman.yml" && c.Properties["line"] == "4"
	}
	if !found {
		t.Errorf("got the log\n%s\nwant an error at line 4 of the file", s.Log())
	}
	untouched(t, gh.Log())
}

func noEvent(t *testing.T, host string) {
	gh := fake(t, host)
	s := newStep(t, gh.URL, "testdata/foreman.yml")
	s.Setenv("GITHUB_EVENT_PATH", "/github/workflow/missing.json")
	refused(t, s, "/github/workflow/missing.json")
	untouched(t, gh.Log())
}

// refused runs the step, and checks that it exits with 2 and an error that names the cause.
func refused(t *testing.T, s *step, cause string) {
	t.Helper()
	if code := s.run(); code != 2 {
		t.Errorf("got exit code %d, want 2\n%s", code, s.Log())
	}
	for _, c := range s.Commands() {
		if c.Name == "error" && strings.Contains(c.Data, cause) {
			return
		}
	}
	t.Errorf("got the log\n%s\nwant an error that names %q", s.Log(), cause)
}

// untouched checks that all calls are reads.
func untouched(t *testing.T, calls []string) {
	t.Helper()
	writes := slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return strings.HasPrefix(c, "GET ") })
	if diff := cmp.Diff([]string{}, writes, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
		t.Errorf("got writes (-want +got):\n%s", diff)
	}
}
