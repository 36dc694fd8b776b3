package results_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/testkit/loopback"
	"github.com/org/foreman-action/memory"
)

// TestScripts runs the scripts in testdata/script. Each archive has a file "script" with one
// command per line, and a file "want" with the expected output.
//
//	server camel lenient      makes a new server; the words are options
//	store KIND [run=N] [mode=M] [branch=B] [fork]
//	                          opens a store of a new job; KIND: artifact, cache, cache-v1
//	load, save REVISION       loads or saves the record of issue 7
//	deny RIGHT, grant RIGHT
//	fault PATH [KEY=VALUE ...] the keys are fields of resultstest.Fault;
//	                          size=N makes a body of N characters
//	reserve NUMBER            reserves a key of the cache, without an entry
//	odd NAME                  adds a cache entry whose key ends with NAME
//	broken NUMBER             adds a cache entry that is not a record
//	artifact REVISION [run=N] adds an artifact
//	calls, wire               print the calls since the last time: in short, or whole
//
// Waits, warnings and masks are printed as they happen.
func TestScripts(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/script/*.txtar", func(t *testing.T, files map[string]string) string {
		p := &player{t: t}
		for line := range strings.Lines(files["script"]) {
			if words := strings.Fields(line); len(words) > 0 {
				p.out.WriteString("> " + strings.Join(words, " ") + "\n")
				p.play(words)
			}
		}
		return p.out.String()
	})
}

// A player runs one script.
type player struct {
	t     *testing.T
	s     *resultstest.Server
	store memory.Store
	token []string
	shown int
	out   bytes.Buffer
}

func (p *player) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.Contains(text, p.s.RESTToken()) || slices.ContainsFunc(p.token, func(s string) bool { return strings.Contains(text, s) }) {
		p.t.Errorf("a token is shown: %s", text)
	}
	p.out.WriteString(text + "\n")
}

func (p *player) play(words []string) {
	if p.s == nil && words[0] != "server" {
		p.s = resultstest.New(p.t, resultstest.Config{})
	}
	opts := map[string]string{}
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		opts[k] = v
	}
	has := func(k string) bool { _, ok := opts[k]; return ok }
	switch words[0] {
	case "server":
		p.s = resultstest.New(p.t, resultstest.Config{CamelCase: has("camel"), Lenient: has("lenient")})
	case "store":
		p.open(words[1], opts)
	case "load":
		r, err := p.store.Load(p.t.Context(), "org/repo", 7)
		p.result(fmt.Sprintf("revision %d", r.Revision), err)
	case "save":
		p.result("saved", p.store.Save(p.t.Context(), record(p.number(words[1]))))
	case "deny", "grant":
		p.s.Deny(resultstest.Denial(strings.Join(words[1:], " ")), words[0] == "deny")
	case "fault":
		p.fault(words[1], opts)
	case "reserve":
		p.s.AddCache(resultstest.Cache{Key: results.Key(7, p.number(words[1])), Version: results.Version()})
	case "broken":
		p.s.AddCache(resultstest.Cache{Key: results.Key(7, p.number(words[1])), Version: results.Version(), Data: []byte("{")})
	case "odd":
		p.s.AddCache(resultstest.Cache{Key: results.Prefix(7) + words[1], Version: results.Version(), Data: []byte("{}")})
	case "artifact":
		run, _ := strconv.ParseInt(opts["run"], 10, 64)
		p.s.Add(resultstest.Artifact{Name: "foreman-memory-i7", Zip: zipOf(p.t, record(p.number(words[1]))), Run: run})
	case "calls":
		lines := strings.Split(methods(p.s), "\n")
		p.printf("%s", strings.Join(lines[p.shown:], "\n"))
		p.shown = len(lines)
	case "wire":
		for _, c := range p.s.Calls()[p.shown:] {
			p.wire(c)
			p.shown++
		}
	default:
		p.t.Fatalf("unknown command %q", words[0])
	}
}

func (p *player) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *player) open(kind string, opts map[string]string) {
	run, _ := strconv.ParseInt(opts["run"], 10, 64)
	job := resultstest.Job{Run: run, HeadBranch: opts["branch"]}
	if _, ok := opts["fork"]; ok {
		job.HeadRepositoryID = 666
	}
	token := p.s.RuntimeToken(job)
	p.token = append(p.token, token)
	o := optionsOf(p.s, token)
	o.CacheMode = opts["mode"]
	o.Mask = func(s string) { p.printf("mask %s", s) }
	o.Sleep = func(ctx context.Context, d time.Duration) error { p.printf("wait %s", d); return ctx.Err() }
	o.Log = slog.New(slog.NewTextHandler(&p.out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	switch kind {
	case "artifact":
		p.store = artifact(p.t, o)
	case "cache":
		p.store = cache(p.t, o)
	case "cache-v1":
		p.store = cache(p.t, v1(o))
	default:
		p.t.Fatalf("unknown store %q", kind)
	}
}

// result prints an outcome, and the names of the exported errors that it matches.
func (p *player) result(text string, err error) {
	if err == nil {
		p.printf("%s", text)
		return
	}
	kinds := map[string]error{
		"ErrNotFound": memory.ErrNotFound, "ErrConflict": memory.ErrConflict, "ErrBroken": memory.ErrBroken, "ErrNewer": memory.ErrNewer,
		"ErrDenied": results.ErrDenied, "ErrTaken": results.ErrTaken, "ErrGone": results.ErrGone,
	}
	text = "error"
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if errors.Is(err, kinds[name]) {
			text += " " + name
		}
	}
	p.printf("%s: %v", text, err)
}

func (p *player) fault(path string, opts map[string]string) {
	f := resultstest.Fault{Path: path, Method: opts["method"], Body: opts["body"]}
	if comp, ok := opts["comp"]; ok {
		f.Query = "comp=" + comp
	}
	if size, err := strconv.Atoi(opts["size"]); err == nil {
		f.Body = strings.Repeat("x", size)
	}
	f.Nth, _ = strconv.Atoi(opts["nth"])
	f.Times, _ = strconv.Atoi(opts["times"])
	f.Status, _ = strconv.Atoi(opts["status"])
	if after, ok := opts["retry-after"]; ok {
		f.Header = map[string]string{"Retry-After": after}
	}
	if to, ok := opts["location"]; ok {
		f.Header = map[string]string{"Location": to}
	}
	f.CutBefore, f.CutAfter = opts["cut"] == "before", opts["cut"] == "after"
	p.s.Fault(f)
}

// wire prints a whole request. It omits the bytes that depend on the compressor of this version of
// Go; the server has checked them.
func (p *player) wire(c loopback.Call) {
	text := c.Method + " " + c.URI + "\n"
	c.Header.Del("Content-Length")
	c.Header.Del("Accept-Encoding")
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		text += name + ": " + c.Header.Get(name) + "\n"
	}
	if bytes.HasPrefix(c.Body, []byte("PK")) {
		c.Body = []byte("<zip>")
	}
	text += "\n" + strings.TrimSuffix(string(c.Body), "\n")
	text = strings.ReplaceAll(text, p.s.RESTToken(), "<token>")
	for _, token := range p.token {
		text = strings.ReplaceAll(text, token, "<runtime token>")
	}
	text = regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(text, "sha256:<digest>")
	text = regexp.MustCompile(`"size":"[0-9]+"`).ReplaceAllString(text, `"size":"<size>"`)
	if c.Method != http.MethodGet || len(c.Body) > 0 {
		text += "\n"
	}
	p.printf("%s", strings.TrimRight(text, "\n")+"\n")
}
