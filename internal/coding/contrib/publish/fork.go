package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/gh"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Fork is the repository that a contribution is pushed to.
type Fork struct {
	Owner, Name string
	New         bool // it does not exist yet
}

// String returns the full name.
func (f Fork) String() string { return f.Owner + "/" + f.Name }

// Find returns the owner's fork of a repository, which may have any name. If there is none, Find
// returns a new fork; name is its name, or empty for that of the repository. refused is the reason
// why no fork of that name can be made; empty if it can.
func Find(ctx context.Context, c gh.CLI, of triage.Ref, owner, name string) (f Fork, refused string, err error) {
	wanted := Fork{Owner: owner, Name: name, New: true}
	if name == "" {
		wanted.Name = of.Repo
	}
	found, taken, err := get(ctx, c, of, wanted)
	if err != nil || found.Name != "" {
		return found, "", err
	}
	others, err := list(ctx, c, of, owner)
	switch {
	case err != nil:
		return Fork{}, "", err
	case slices.Contains(others, name):
		return Fork{Owner: owner, Name: name}, "", nil
	case len(others) > 0 && name != "":
		return Fork{}, fmt.Sprintf("%s/%s is the fork of %s/%s, and GitHub makes no second one: set \"forkName\" in %s to %s.",
			owner, others[0], of.Owner, of.Repo, controller.ConfigPath, others[0]), nil
	case len(others) > 0:
		return Fork{Owner: owner, Name: others[0]}, "", nil
	}
	if now, err := fullName(ctx, c, of); err == nil && !strings.EqualFold(now, of.Owner+"/"+of.Repo) {
		return Fork{}, fmt.Sprintf("%s/%s is now %s: make a contribution to %s instead.", of.Owner, of.Repo, now, now), nil
	}
	if taken {
		return Fork{}, fmt.Sprintf("%s is not a fork of %s/%s: set \"forkName\" in %s to the name of a new fork, or \"forkOwner\" to another account.",
			wanted, of.Owner, of.Repo, controller.ConfigPath), nil
	}
	return wanted, "", nil
}

// fullName returns the current name of a repository. It differs after a rename or a transfer.
func fullName(ctx context.Context, c gh.CLI, of triage.Ref) (string, error) {
	out, err := c.Run(ctx, "api", "repos/"+of.Owner+"/"+of.Repo, "--jq", ".full_name")
	if err != nil {
		return "", err
	}
	owner, name, _ := strings.Cut(strings.TrimSpace(out), "/")
	if !controller.IsOwner(owner) || !controller.IsRepo(name) {
		return "", fmt.Errorf("gh api repos/%s/%s printed no name of a repository: %q", of.Owner, of.Repo, text.Quote(out))
	}
	return owner + "/" + name, nil
}

// get reads a repository. If it is a fork, get returns its current name, which differs after a
// rename. Otherwise the result is empty, and taken reports whether the repository exists.
func get(ctx context.Context, c gh.CLI, of triage.Ref, f Fork) (found Fork, taken bool, err error) {
	out, err := c.Run(ctx, "api", "repos/"+f.String(), "--jq", "[.full_name, .source.full_name, .parent.full_name] | map(. // \"\") | join(\" \")")
	if err != nil {
		if failed, ok := errors.AsType[*gh.Error](err); ok && strings.Contains(failed.Stderr, "HTTP 404") {
			return Fork{}, false, nil
		}
		return Fork{}, false, err
	}
	names := strings.Fields(out)
	owner, name, ok := strings.Cut(strings.Join(names[:min(1, len(names))], ""), "/")
	if !ok {
		return Fork{}, false, fmt.Errorf("gh api repos/%s printed no name of a repository: %q", f, text.Quote(out))
	}
	if !strings.EqualFold(owner, f.Owner) { // transferred to another account
		return Fork{}, false, nil
	}
	target := of.Owner + "/" + of.Repo
	if !slices.ContainsFunc(names[1:], func(of string) bool { return strings.EqualFold(of, target) }) || !controller.IsRepo(name) {
		return Fork{}, true, nil
	}
	return Fork{Owner: owner, Name: name}, false, nil
}

// list returns the names of all forks that an account owns in the network of a repository, those of
// the repository itself first, then the oldest. GitHub makes no second fork in a network: it returns
// the first one, which gh would rename. list reads the account's list of forks, because that of a
// popular repository has thousands of pages.
func list(ctx context.Context, c gh.CLI, of triage.Ref, owner string) ([]string, error) {
	const most = 100 // pages
	target := of.Owner + "/" + of.Repo
	var direct, others []string
	cursor := ""
	for range most {
		p, err := page(ctx, c, of, owner, cursor)
		if err != nil {
			return nil, err
		}
		network := []string{target}
		if p.target != nil && strings.EqualFold(p.target.NameWithOwner, target) { // otherwise Find reports the new name
			network = append(network, p.target.ancestors()...)
		}
		within := func(name string) bool {
			return slices.ContainsFunc(network, func(other string) bool { return strings.EqualFold(name, other) })
		}
		for _, n := range p.Nodes {
			switch above := n.ancestors(); {
			case !slices.ContainsFunc(above, within) || !controller.IsRepo(n.Name):
			case strings.EqualFold(above[0], target):
				direct = append(direct, n.Name)
			default:
				others = append(others, n.Name)
			}
		}
		if cursor = p.PageInfo.EndCursor; !p.PageInfo.HasNextPage || cursor == "" {
			break
		}
	}
	return append(direct, others...), nil
}

// forks is a page of an account's list of forks.
type forks struct {
	Nodes    []*node
	PageInfo struct {
		HasNextPage bool
		EndCursor   string
	}
	target *node // of which forks are looked for; nil: unknown
}

// A node is a repository in GitHub's GraphQL API.
type node struct {
	Name, NameWithOwner string
	Parent              *node // nil: not a fork, or hidden
}

// ancestors returns the names of the parent, of its parent, and so on.
func (n *node) ancestors() []string {
	var names []string
	for ; n != nil && n.Parent != nil; n = n.Parent {
		names = append(names, n.Parent.NameWithOwner)
	}
	return names
}

// page returns the page after a cursor. gh fails if GitHub left something out, such as the name of a
// repository whose organization requires SAML single sign-on, and prints the page nevertheless.
func page(ctx context.Context, c gh.CLI, of triage.Ref, owner, cursor string) (forks, error) {
	const query = "query($login: String!, $cursor: String, $owner: String!, $name: String!) { " +
		"repository(owner: $owner, name: $name) { ...names } repositoryOwner(login: $login) { " +
		"repositories(first: 100, after: $cursor, isFork: true, ownerAffiliations: OWNER, orderBy: {field: CREATED_AT, direction: ASC}) { " +
		"nodes { ...names } pageInfo { hasNextPage endCursor } } } } " +
		"fragment names on Repository { name nameWithOwner parent { nameWithOwner parent { nameWithOwner " +
		"parent { nameWithOwner parent { nameWithOwner } } } } }"
	args := []string{"api", "graphql", "-f", "query=" + query, "-f", "login=" + owner, "-f", "owner=" + of.Owner, "-f", "name=" + of.Repo}
	if cursor != "" {
		args = append(args, "-f", "cursor="+cursor)
	}
	out, err := c.Run(ctx, args...)
	var answer struct {
		Data struct {
			Repository      *node
			RepositoryOwner *struct{ Repositories *forks }
		}
	}
	if broken := json.Unmarshal([]byte(out), &answer); broken != nil && err == nil {
		return forks{}, fmt.Errorf("gh api graphql: decode the response: %w", broken)
	}
	account := answer.Data.RepositoryOwner
	switch {
	case account != nil && account.Repositories != nil:
		account.Repositories.target = answer.Data.Repository
		return *account.Repositories, nil
	case err != nil:
		return forks{}, err
	}
	return forks{}, nil // there is no such account
}
