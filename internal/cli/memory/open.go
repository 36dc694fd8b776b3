package memory

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/checkout"
	"github.com/org/foreman-action/internal/cli/event"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/records"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
)

// The stores that people name. Both names of a store in the results service are those of the
// configuration.
const (
	artifactStore = "artifact"
	fileStore     = "file"
)

// A place is the memory of a repository with its policy.
type place struct {
	records.Memory

	config *config.Config // the zero value: unknown
	notes  []string
}

// open opens the memory of a repository. A mistake in the arguments, in the configuration, or a missing token is
// a [command.UsageError].
func open(ctx context.Context, o Options, repo string) (place, error) {
	owner, name, _ := protocol.SplitRepo(repo)
	client, err := remote.FromEnv(o.Env).Client()
	if err != nil {
		return place{}, err
	}
	dir, err := o.Env.WorkDir()
	if err != nil {
		return place{}, err
	}
	other := o.Config == "" && checkout.OfOther(ctx, o.Env, dir, repo)
	local := files.Layered{files.Anywhere{Dir: dir}}
	if other {
		local = nil
	}
	cfg, err := load(ctx, o, client, github.Tree{Owner: owner, Repo: name}, local)
	if err != nil {
		return place{}, failure.Classify(err)
	}
	p := place{}
	found := cfg != nil
	if !found {
		p.notes = append(p.notes, "no configuration was found; the states of the permissions are not known")
		cfg = &config.Config{}
	}
	p.config = cfg
	store := cmp.Or(o.Store, cfg.Memory.Store, artifactStore)
	if other {
		from := "that of " + repo
		if !found {
			from = "none"
		}
		o.Env.Log("this folder belongs to another repository than %s; configuration: %s; memory: %s", repo, from, store)
	}
	switch store {
	case artifactStore:
		p.Memory, err = artifacts(ctx, o.Env, client, repo)
	case fileStore:
		p.Memory, err = folder(o.Env, cmp.Or(cfg.Memory.Path, event.MemoryPath))
	case "cache", "off":
		err = command.Usagef("the memory is %s, which keeps no records that can be read later; name another one with --store: artifact, file or a folder", store)
	default:
		err = named(o.Env, o.Store)
		if err == nil {
			p.Memory, err = folder(o.Env, o.Store)
		}
	}
	return p, err
}

// load loads the configuration: the named file, or else that of local, the files of this folder unless it belongs to
// another repository, or else that of the repository. It returns nil if there is none.
func load(ctx context.Context, o Options, client *github.Client, tree github.Tree, local files.Layered) (*config.Config, error) {
	places := local
	spec := config.Spec{Path: o.Config, Getenv: config.AnyVariable(o.Env.Getenv), Remote: remote.FromEnv(o.Env).File, IssueForms: local}
	if o.Config == "" {
		spec.Path, spec.Else = config.DefaultPath, config.OtherPath
		if client != nil {
			places = append(places, remote.Branch{Client: client, Tree: tree})
		}
	}
	cfg, err := config.Load(ctx, places, spec)
	switch {
	case errors.Is(err, config.ErrNotFound) && o.Config == "":
		return nil, nil
	case errors.Is(err, config.ErrNotFound), errors.Is(err, path.ErrBadPattern):
		return nil, command.Usage(err)
	}
	return cfg, err
}

// maxLoads bounds the records in artifacts that a report loads, each with two calls.
const maxLoads = 50

// artifacts opens the artifacts of a repository.
func artifacts(ctx context.Context, env process.Env, client *github.Client, repo string) (records.Memory, error) {
	if client == nil {
		return records.Memory{}, command.Usagef("read the artifacts of %s: %w", repo, failure.ErrNoToken)
	}
	owner, name, _ := protocol.SplitRepo(repo)
	about, err := client.About(ctx, owner, name)
	switch {
	case err != nil:
		return records.Memory{}, command.Failed(err)
	case !strings.EqualFold(about.FullName, repo):
		return records.Memory{}, command.Usagef("%s is now %s; use that name", repo, text.Quote(about.FullName))
	}
	access := remote.FromEnv(env)
	a, err := results.NewArchive(results.Options{
		Repo: repo, RepositoryID: about.ID, DefaultBranch: about.DefaultBranch, APIURL: cmp.Or(access.APIURL, "https://api.github.com"), Token: access.Token,
		Now: env.Now, Sleep: env.Sleep, Log: env.Logger(),
	})
	if err != nil {
		return records.Memory{}, command.Usage(err)
	}
	return records.Memory{Store: a, Kind: artifactStore, Shared: true, Loads: maxLoads}, nil
}

// folder opens the file store in a folder. A missing folder is an empty store.
func folder(env process.Env, name string) (records.Memory, error) {
	s, err := file.Open(env.Path(name))
	if err != nil {
		return records.Memory{}, command.Usage(err)
	}
	return records.Memory{Store: s, Kind: fileStore}, nil
}

// named returns a mistake in the name of a folder.
func named(env process.Env, name string) error {
	if strings.Contains(name, "://") || strings.HasPrefix(name, "file:") {
		return command.Usagef("--store: the database of a server is read by foremand report and foremand memory, with --queue-db")
	}
	info, err := os.Stat(env.Path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return command.Usagef("--store: want artifact, file or a folder; there is no folder %q", text.Quote(name))
	case err != nil:
		return command.Usagef("--store: %w", err)
	case !info.IsDir():
		return command.Usagef("--store: %q is a file; the database of a server is read by foremand report and foremand memory, with --queue-db", text.Quote(name))
	}
	return nil
}

// webOf returns the address of GitHub's web pages.
func webOf(env process.Env) string {
	return cmp.Or(strings.TrimRight(env.Getenv("GITHUB_SERVER_URL"), "/"), address.Web(env.Getenv("GITHUB_API_URL")), "https://github.com")
}
