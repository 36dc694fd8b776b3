package app

import (
	"path/filepath"
	"strconv"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner"
)

// memory opens the store that the configuration names; nil when it names none.
func (j job) memory(c runner.MemoryConfig) (memory.Store, error) {
	switch c.Store {
	case "file":
		dir := c.Path
		if dir == "" {
			dir = ".foreman/memory"
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(j.dir, filepath.FromSlash(dir))
		}
		return opened(memory.OpenFile(dir))
	case "artifact":
		return opened(results.NewArtifact(j.results()))
	case "cache":
		return opened(results.NewCache(j.results()))
	}
	return nil, nil
}

// opened makes a store of a pointer to one, so that a failure is a nil store.
func opened[S memory.Store](s S, err error) (memory.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// results are the options of the stores in the results service, from the variables
// that the runner sets for a container action.
func (j job) results() results.Options {
	id, _ := strconv.ParseInt(j.app.Getenv("GITHUB_REPOSITORY_ID"), 10, 64) // 0 is refused by name
	return results.Options{
		ResultsURL:    j.app.Getenv("ACTIONS_RESULTS_URL"),
		CacheURL:      j.app.Getenv("ACTIONS_CACHE_URL"),
		RuntimeToken:  j.app.Getenv("ACTIONS_RUNTIME_TOKEN"),
		CacheMode:     j.app.Getenv("ACTIONS_CACHE_MODE"),
		ServerURL:     j.app.Getenv("GITHUB_SERVER_URL"),
		Repo:          j.event.FullRepo(),
		RepositoryID:  id,
		DefaultBranch: j.event.Branch,
		APIURL:        j.apiURL,
		Token:         j.token,
		Now:           j.app.Now,
		Sleep:         j.app.Sleep,
		Mask:          j.mask,
	}
}
