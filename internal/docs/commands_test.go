package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// aside makes bash parse a block of commands without running them. Our commands are called with
// --help before their arguments, so that an unknown command or flag is an error. Other commands
// do nothing.
const aside = `
set +e
ours() {
	local program=$1 words=() word usage
	shift
	for word; do
		[[ $word == -- ]] && break
		[[ $program$word == contribflow--json ]] && continue # its help is no document
		words+=("$word")
	done
	if ! usage=$("$BIN/$program" "${words[@]}" --help 2>&1 </dev/null); then
		printf '\036%s %s\n%s\n' "$program" "$*" "$usage" >&2
		return
	fi
	# The help of a group where the first word is no flag: it has no such command.
	if [[ ${words[0]} != -* && $usage == *"Available Commands:"* ]]; then
		printf '\036%s %s: no such command\n' "$program" "$*" >&2
		return
	fi
	echo "$program"
}
foreman() { ours foreman "$@"; }
foremand() { ours foremand "$@"; }
contribflow() { ours contribflow "$@"; }
go() {
	[[ $1 == run ]] || return 0
	local program=${2##*/}
	shift 2
	[[ $program == . ]] && program=foreman
	ours "$program" "$@"
}
make() {
	local target
	for target; do
		[[ $target == *=* ]] && continue
		grep -qE "^(bin/)?$target:" "$REPO/Makefile" || printf '\036make %s: no such target\n' "$target" >&2
	done
}
sudo() { "$@"; }
command_not_found_handle() { return 0; }
PATH=$EMPTY:$TOOLS
`

// TestCommands parses the commands that TestWalk does not run.
func TestCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	bin := programs(t)
	each(t, func(t *testing.T, name string, _ []byte, page docsPage) {
		for _, b := range page.Blocks {
			if b.Lang != "sh" || runnable(b) {
				continue
			}
			reason, ok := strings.CutPrefix(b.Marker, "not run: ")
			if testedElsewhere[name][b.Marker] == "" && (!ok || reason == "") {
				t.Errorf("%s: a block of commands has the marker %q, want none, %q or not run: REASON", at(name, b), b.Marker, emptyFolder)
			}
			if _, problems := parseCommands(t, bin, b.Text); problems != "" {
				t.Errorf("%s: %s", at(name, b), problems)
			}
		}
	})
}

// parseCommands returns the number of commands of ours, and the mistakes in the block.
func parseCommands(t *testing.T, bin, script string) (ours int, problems string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	script = strings.NewReplacer("bin/foremand", "foremand", "bin/foreman", "foreman", "…", "").Replace(script)
	cmd := exec.CommandContext(ctx, "bash", "-c", aside+script+"\nwait")
	cmd.Dir = t.TempDir()
	tools := t.TempDir()
	grep, err := exec.LookPath("grep")
	if err == nil {
		err = os.Symlink(grep, tools+"/grep")
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{"BIN=" + bin, "EMPTY=" + t.TempDir(), "TOOLS=" + tools, "REPO=" + absolute(t, root), "HOME=" + cmd.Dir}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if text, err := exec.CommandContext(ctx, "bash", "-n", "-c", script).CombinedOutput(); err != nil {
		return 0, fmt.Sprintf("%v\n%s", err, text)
	}
	_ = cmd.Run() // the status does not matter, because no command ran
	if err := ctx.Err(); err != nil {
		return 0, err.Error()
	}
	for program := range strings.Lines(out.String()) {
		switch strings.TrimSpace(program) {
		case "foreman", "foremand", "contribflow":
			ours++
		}
	}
	_, problems, _ = strings.Cut(errs.String(), "\036")
	return ours, problems
}

func TestParseCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	bin := programs(t)
	for _, tt := range []struct {
		name, script string
		ours         int
		want         string // text that the problem contains
	}{
		{"fine", "cd somewhere && foreman rules check --format json | tee x\nsudo foremand serve --config c.yaml &", 1, ""},
		{"a flag", "foreman rules check --formt json", 0, "unknown flag: --formt"},
		{"a command", "foreman rules chek", 0, "no such command"},
		{"behind a variable", "X=1 foreman triag", 0, "triag"},
		{"go run", "go run ./cmd/foremand config check --konfig x", 0, "--konfig"},
		{"other arguments", "foreman agent check http://localhost:9001 -- python3 --no-such-flag", 1, ""},
		{"make", "make no-such-target", 0, "no such target"},
		{"syntax", "foreman triage '", 0, "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n, problems := parseCommands(t, bin, tt.script)
			if !strings.Contains(problems, tt.want) || (tt.want == "") != (problems == "") || n < tt.ours {
				t.Errorf("got %d commands, %q; want %d, %q", n, problems, tt.ours, tt.want)
			}
		})
	}
}
