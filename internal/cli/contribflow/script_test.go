package contribflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/foreman-action/internal/cli/contribflow"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	// The scripts mostly wait for other processes.
	_ = flag.Set("test.parallel", "8")
	program := func() {
		env := process.Env{Getenv: os.Getenv, LookupEnv: os.LookupEnv, Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: os.Args[0]}
		if clock := os.Getenv("CLOCK"); clock != "" {
			now, err := time.Parse(time.RFC3339Nano, clock)
			if err != nil {
				panic(err)
			}
			env.Now = func() time.Time { return now }
		}
		os.Exit(contribflow.Main(context.Background(), env, os.Args[1:]))
	}
	testscript.Main(ramdir.Tests{M: m, Setenv: os.Setenv}, map[string]func(){
		"contribflow": program, "cflow": program,
		"gh": standIn, "standin-docker": standIn, "npm": standIn, "go": standIn, "make": standIn,
	})
}

// TestScripts runs every script of testdata/script against the real program. The programs gh,
// docker, npm, go and make are stand-ins. Each call appends a line of JSON to $STANDIN/NAME.log,
// with the arguments and the names of the environment variables. The answer is the first line of
// $STANDIN/NAME.txt whose words the arguments begin with:
//
//	auth status => 0
//	pr create => 1 stderr:no permission\n
//	api user => 0 octocat\n
//	repo fork >> api repos/me/r => 0 o/r\n
//
// The last line applies only after a call with the words before ">>". A line that begins with "..."
// applies to arguments that end with its words, such as those of a container's command:
//
//	... sh -c npm test => 0 ok\n
//
// If no line matches, the stand-in exits with 1. Besides testscript's own commands, scripts can
// use:
//
//	fails CODE PROGRAM ARG…  run a program that must end with the exit code
//	document NAME            check that standard output is one document of that schema, and
//	                         write it to NAME.json with $WORK for the folder, TIME for times, COMMIT for
//	                         the pushed commit, and 1 for milliseconds
//	value NAME PATH TEXT     check that a member of the last document NAME is a text, a number,
//	                         true, false or null; PATH is for example nextAction or checks.0.name
//	list NAME PATH KEY       print the members of a list of the last document NAME, one per line;
//	                         for objects, print the member KEY
//	validated STATUS         write the documents of a validation with this status; run nothing
//	github WORD…             see [github]
//	calls NAME               print the arguments of the calls of a stand-in since the last "calls"
//	containers               print user, network, folder, image and command of each container that
//	                         docker was asked to run, and reset the list
//	repository OWNER/REPO DIR  create a repository on GitHub from the files in a folder, or add a
//	                         commit to an existing one. Git finds it by GIT_CONFIG_COUNT.
//	submodule OWNER/REPO PATH  add a submodule to a repository
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("STANDIN", filepath.Join(e.WorkDir, "standin"))
			e.Setenv("NO_PROXY", "127.0.0.1")
			// The clock of the program does not advance, so that its cache of a minute does not
			// expire while a script waits for a processor.
			e.Setenv("CLOCK", time.Now().Format(time.RFC3339Nano))
			for name, value := range gitVariables(e.WorkDir) {
				e.Setenv(name, value)
			}
			for _, dir := range []string{"home", "standin", "work"} {
				if err := os.MkdirAll(filepath.Join(e.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			e.Vars = append(e.Vars, programtest.RaceDetector(os.Getenv))
			setupHub(e)
			e.Cd = filepath.Join(e.WorkDir, "work")
			return dockerStandIn(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": fails, "document": document, "value": value, "list": list, "calls": calls, "containers": containers, "validated": validated,
			"repository": repository, "submodule": submodule, "github": github,
		},
	})
}

// standIn runs the test binary as gh, docker or another stand-in.
func standIn() {
	dir, name := os.Getenv("STANDIN"), strings.TrimPrefix(filepath.Base(os.Args[0]), "standin-")
	var names []string
	for _, v := range os.Environ() {
		n, _, _ := strings.Cut(v, "=")
		names = append(names, n)
	}
	call, err := json.Marshal(map[string]any{"args": os.Args[1:], "env": names})
	if err != nil {
		panic(err)
	}
	earlier, _ := os.ReadFile(filepath.Join(dir, name+".said"))
	said, err := os.OpenFile(filepath.Join(dir, name+".said"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(said, strings.Join(os.Args[1:], " "))
	said.Close()
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(log, "%s\n", call)
	log.Close()
	answers, _ := os.ReadFile(filepath.Join(dir, name+".txt"))
	for line := range strings.Lines(string(answers)) {
		words, answer, ok := strings.Cut(strings.TrimSpace(line), "=>")
		if before, after, there := strings.Cut(words, ">>"); there {
			if !strings.Contains(string(earlier), strings.TrimSpace(before)) {
				continue
			}
			words = after
		}
		if !ok || !fits(strings.TrimSpace(words), strings.Join(os.Args[1:], " ")) {
			continue
		}
		code, text, _ := strings.Cut(strings.TrimSpace(answer), " ")
		to := io.Writer(os.Stdout)
		if rest, ok := strings.CutPrefix(text, "stderr:"); ok {
			text, to = rest, os.Stderr
		}
		fmt.Fprint(to, strings.ReplaceAll(text, `\n`, "\n"))
		exit, err := strconv.Atoi(code)
		if err != nil {
			panic(err)
		}
		os.Exit(exit)
	}
	fmt.Fprintf(os.Stderr, "%s: no answer to %q\n", name, os.Args[1:])
	os.Exit(1)
}

// fits reports whether arguments match the words of a recorded answer.
func fits(words, args string) bool {
	if end, ok := strings.CutPrefix(words, "... "); ok {
		return strings.HasSuffix(" "+args, " "+end)
	}
	return strings.HasPrefix(args+" ", words+" ")
}

func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE PROGRAM ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	if err == nil || err.Error() != "exit status "+args[0] {
		ts.Fatalf("want exit status %s, got %v", args[0], err)
	}
}

var runnable = regexp.MustCompile(`^(contribflow|gh|git) `)

var duration = regexp.MustCompile(`"durationMs": \d+`)

var commit = regexp.MustCompile(`"commit": "[0-9a-f]{40}"`)

var moment = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)

func document(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: document NAME")
	}
	out := []byte(ts.ReadFile("stdout"))
	schema, err := contract.Schema(args[0])
	ts.Check(err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("schema.json", parsed))
	compiled, err := c.Compile("schema.json")
	ts.Check(err)
	reader := bytes.NewReader(out)
	d := json.NewDecoder(reader)
	var one any
	ts.Check(d.Decode(&one))
	if rest, _ := io.ReadAll(io.MultiReader(d.Buffered(), reader)); string(rest) != "\n" {
		ts.Fatalf("standard output goes on after the document: %q", rest)
	}
	again, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	ts.Check(err)
	ts.Check(compiled.Validate(again))
	if root, ok := one.(map[string]any); ok && root["recommendedCommandKind"] == string(contract.KindCommand) && !runnable.MatchString(fmt.Sprint(root["recommendedCommand"])) {
		ts.Fatalf("the recommended command %q is none of contribflow, gh and git", root["recommendedCommand"])
	}
	text := strings.ReplaceAll(string(out), ts.Getenv("WORK"), "$WORK")
	text = moment.ReplaceAllString(text, `"TIME"`)
	text = commit.ReplaceAllString(text, `"commit": "COMMIT"`)
	text = duration.ReplaceAllString(text, `"durationMs": 1`)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".json"), []byte(text), 0o600))
}

func value(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: value NAME PATH TEXT")
	}
	at := member(ts, args[0], args[1])
	got := fmt.Sprint(at)
	if at == nil {
		got = "null"
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %q", args[1], got)
	}
}

// member returns a member of the last document of a name.
func member(ts *testscript.TestScript, name, path string) any {
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(name+".json")), &at))
	for part := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				ts.Fatalf("%s: no key %q", path, part)
			}
			at = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no item %q in a list of %d", path, part, len(v))
			}
			at = v[i]
		default:
			ts.Fatalf("%s: nothing is below %v", path, v)
		}
	}
	return at
}

func list(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: list NAME PATH [KEY]")
	}
	items, ok := member(ts, args[0], args[1]).([]any)
	if !ok {
		ts.Fatalf("%s is no list", args[1])
	}
	for _, item := range items {
		if object, ok := item.(map[string]any); ok && len(args) > 2 {
			item = object[args[2]]
		}
		fmt.Fprintln(ts.Stdout(), item)
	}
}

func calls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: calls NAME")
	}
	file := filepath.Join(ts.Getenv("STANDIN"), args[0]+".log")
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		ts.Check(err)
	}
	for line := range strings.Lines(string(data)) {
		var call struct{ Args []string }
		ts.Check(json.Unmarshal([]byte(line), &call))
		fmt.Fprintf(ts.Stdout(), "%s\n", strings.Join(call.Args, " "))
	}
	fmt.Fprintln(ts.Stdout()) // also without a call, replace the output of the previous command
	ts.Check(os.WriteFile(file, nil, 0o600))
}

// validated writes the documents of "validate".
func validated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: validated STATUS")
	}
	ts.Check(validation(ts.MkAbs("."), ts.Getenv, args[0]))
}

// validation writes the validation of every patch artifact of a controller's folder.
func validation(root string, getenv func(string) string, status string) error {
	files, err := filepath.Glob(filepath.Join(root, ".contribflow/artifacts/patch-*.json"))
	if err != nil {
		return err
	}
	c := controller.Controller{Root: root, KeyFile: controller.KeyFile(getenv)}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var patch contract.Patch
		if err := json.Unmarshal(data, &patch); err != nil {
			return err
		}
		zero := 0
		path := filepath.ToSlash(strings.Replace(strings.TrimPrefix(file, c.Root+string(filepath.Separator)), "patch-", "validation-", 1))
		if err := c.WriteSealed(path, contract.Validation{
			Status: status, PatchDigest: patch.PatchDigest, Issue: patch.Issue, BlocksPR: status != contract.Passed, Reason: "as the script says",
			Next:     contract.Run(contract.ActionDraftPR, "contribflow pr --draft --json"),
			Commands: []contract.CommandRun{{Command: "make test", Status: status, ExitCode: &zero, Sandbox: "docker", SandboxImage: "golang:1.26-bookworm"}},
		}); err != nil {
			return err
		}
	}
	return nil
}
