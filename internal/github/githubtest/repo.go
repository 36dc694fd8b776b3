package githubtest

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // git's object names
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxInline is the size from which on the contents API leaves out the content.
const maxInline = 1 << 20

func rateLimit(in *input) answer {
	core := object{"limit": 5000, "remaining": 4999, "used": 1, "reset": in.now().Unix() + 3600}
	return reply(http.StatusOK, object{"resources": object{"core": core, "search": core}, "rate": core})
}

// currentUser refuses the token of an app or of Actions, as GitHub does.
func currentUser(in *input) answer {
	if strings.HasSuffix(in.actor(), "[bot]") {
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	}
	u := renderUser(in.actor())
	at := stamp(in.now())
	profile := object{
		"name": nil, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"public_repos": 1, "public_gists": 0, "followers": 0, "following": 0, "created_at": at, "updated_at": at,
	}
	maps.Copy(u, profile)
	return reply(http.StatusOK, u)
}

func getRepo(in *input) answer { return reply(http.StatusOK, in.repo.render()) }

func getAssignee(in *input) answer {
	if !slices.ContainsFunc(in.repo.users, same(in.vars["login"])) {
		return notFound()
	}
	return reply(http.StatusNoContent, nil)
}

// getPermission says "write" for the users of the repository, "read" for others,
// for the repository is public, and what SetPermission set before all.
func getPermission(in *input) answer {
	login := in.vars["login"]
	permission := "read"
	if slices.ContainsFunc(in.repo.users, same(login)) {
		permission = "write"
	}
	if p := in.repo.permissions[strings.ToLower(login)]; p != "" {
		permission = p
	}
	u := renderUser(login)
	u["role_name"] = permission
	// The field permission knows neither of the two roles.
	base := map[string]string{"maintain": "write", "triage": "read"}
	return reply(http.StatusOK, object{"permission": cmp.Or(base[permission], permission), "role_name": permission, "user": u})
}

// maxListed is all that is listed of the files of a pull request.
const maxListed = 3000

// listFiles lists what a pull request changes.
func listFiles(in *input) answer {
	if !in.issue.PullRequest {
		return notFound()
	}
	files := in.issue.Files
	return listed(in.r, files[:min(len(files), maxListed)], func(name string) object {
		at := in.repo.api("/contents/%s", (&url.URL{Path: name}).EscapedPath())
		o := object{
			"sha": fmt.Sprintf("%040x", len(name)), "filename": name, "status": "modified", "additions": 1, "deletions": 1, "changes": 2,
			"blob_url": in.repo.web("/blob/main/%s", name), "raw_url": in.repo.web("/raw/main/%s", name), "contents_url": at,
		}
		if before := in.issue.Moved[name]; before != "" {
			o["status"], o["previous_filename"] = "renamed", before
		}
		return o
	})
}

func getContents(in *input) answer {
	path := strings.Trim(in.vars["path"], "/")
	files := in.repo.files
	if ref := in.r.URL.Query().Get("ref"); ref != "" {
		if files = in.repo.refs[ref]; files == nil {
			return failure(http.StatusNotFound, "No commit found for the ref "+ref)
		}
	}
	if content, ok := files[path]; ok {
		return in.file(path, content)
	}
	entries := in.repo.entries(files, path)
	if len(entries) == 0 {
		return notFound()
	}
	return reply(http.StatusOK, entries)
}

func (in *input) file(path, content string) answer {
	if strings.Contains(in.r.Header.Get("Accept"), "raw") {
		a := reply(http.StatusOK, nil)
		a.raw, a.foreign = []byte(content), true
		a.header.Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		return a
	}
	o := in.repo.renderEntry("file", path, len(content), blobSHA(content))
	o["encoding"], o["content"] = "base64", wrapped(content)
	if len(content) > maxInline {
		o["encoding"], o["content"] = "none", ""
	}
	return reply(http.StatusOK, o)
}

// wrapped is base64 in lines of 60 characters, as GitHub sends it.
func wrapped(content string) string {
	s := base64.StdEncoding.EncodeToString([]byte(content))
	var b strings.Builder
	for len(s) > 0 {
		n := min(60, len(s))
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String()
}

// entries lists a directory, in the order of names.
func (r *Repo) entries(files map[string]string, dir string) []object {
	found := map[string]object{}
	for path, content := range files {
		rest := path
		if dir != "" {
			below, ok := strings.CutPrefix(path, dir+"/")
			if !ok {
				continue
			}
			rest = below
		}
		name, _, deeper := strings.Cut(rest, "/")
		full := strings.TrimPrefix(dir+"/"+name, "/")
		if deeper {
			found[name] = r.renderEntry("dir", full, 0, blobSHA(full))
		} else {
			found[name] = r.renderEntry("file", full, len(content), blobSHA(content))
		}
	}
	var names []string
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []object
	for _, name := range names {
		list = append(list, found[name])
	}
	return list
}

func blobSHA(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)) //nolint:gosec // git's object names
	return hex.EncodeToString(sum[:])
}
