package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/org/foreman-action/internal/cli/checkout"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/starter"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// labels are the labels of a repository; nil names: they are not known.
type labels struct {
	names []string
	notes []string
}

// labels returns the labels that the flags or GitHub name. The error is a
// [yamlfile.Problems] when a file of labels has mistakes.
func (o Options) labels(ctx context.Context, root string) (labels, error) {
	if o.Labels != "" {
		names, err := o.listed()
		return labels{names: names}, err
	}
	return o.remote(ctx, root)
}

// listed returns the labels of the flag.
func (o Options) listed() ([]string, error) {
	dir, err := o.Env.WorkDir()
	if err != nil {
		return nil, err
	}
	name, path := o.Labels, process.Below(dir, o.Labels)
	var src []byte
	switch _, missing := os.Stat(path); {
	case name == "-":
		name = "standard input"
		if o.Env.Stdin != nil {
			if src, err = files.ReadAll(o.Env.Stdin, name, yamlfile.MaxSize); err != nil {
				return nil, files.Unreadable(err)
			}
		}
	case missing == nil:
		if src, err = files.Read(path, yamlfile.MaxSize); err != nil {
			return nil, command.Usagef("--labels: %w", err)
		}
	case strings.ContainsAny(name, "/\\") && !strings.Contains(name, ",") && filepath.Ext(name) != "":
		return nil, command.Usagef("--labels: there is no file %s", name)
	default:
		return split(name)
	}
	list, err := lint.ParseLabels(name, src)
	if err != nil {
		return nil, starter.Mistakes(name, err)
	}
	return list, nil
}

// split returns the names between commas.
func split(text string) ([]string, error) {
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil, command.Usagef("--labels: want a file, - for standard input, or names with commas, got %q", text)
	}
	return list, nil
}

// remote returns the labels on GitHub; without a token or the name of the repository they are
// not known.
func (o Options) remote(ctx context.Context, root string) (labels, error) {
	full, given := o.Repository, o.Repository != ""
	client, err := remote.FromEnv(o.Env).Client()
	if err != nil {
		return labels{}, err
	}
	if client == nil {
		if given {
			return labels{}, command.Usagef("read the labels of %s: %w", full, failure.ErrNoToken)
		}
		return labels{}, nil
	}
	if full == "" {
		full = o.Env.Getenv("GITHUB_REPOSITORY")
	}
	if full == "" {
		full = checkout.Origin(ctx, o.Env, root)
	}
	if full == "" {
		return labels{notes: []string{"the labels on GitHub were not read: name the repository with --repository OWNER/NAME"}}, nil
	}
	owner, name, ok := protocol.SplitRepo(full)
	if !ok {
		return labels{}, command.Usagef("--repository: want OWNER/NAME, got %q", full)
	}
	names, err := client.Labels(ctx, owner, name)
	switch {
	case errors.Is(err, triage.ErrTruncated), err == nil && names != nil:
		return labels{names: names}, nil
	case err == nil:
		return labels{names: []string{}}, nil
	case given:
		return labels{}, command.Failed(fmt.Errorf("read the labels of %s: %w; check the name and the token, or use --labels", full, err))
	}
	return labels{notes: []string{fmt.Sprintf("the labels of %s on GitHub could not be read: %v", full, err)}}, nil
}

// onHost matches the address of a git repository on another host, whose name has a dot. A name without
// a dot may be an alias of ssh.
var onHost = regexp.MustCompile(`^(?:(?:https?|ssh|git)://(?:[^/@]*@)?|[^/:@]+@)([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)[:/]`)

// enterprise reports whether the repository is on a GitHub Enterprise Server: on a host that is neither
// github.com nor one of GitHub Enterprise Cloud.
func (o Options) enterprise(ctx context.Context, root string) bool {
	for _, address := range []string{checkout.OriginURL(ctx, o.Env, root), o.Env.Getenv("GITHUB_SERVER_URL") + "/"} {
		if m := onHost.FindStringSubmatch(address); m != nil {
			host := strings.ToLower(m[1])
			return host != "github.com" && host != "ssh.github.com" && !strings.HasSuffix(host, ".ghe.com")
		}
	}
	return false
}
