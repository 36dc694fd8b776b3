package githubtest

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// maxInline is the size from which the contents API omits the content of a file.
const maxInline = 1 << 20

func getContents(in *input) answer {
	path := strings.Trim(in.vars["path"], "/")
	files := in.repo.Files
	if ref := in.r.URL.Query().Get("ref"); ref != "" {
		if files = in.repo.Refs[ref]; files == nil {
			return failure(http.StatusNotFound, "No commit found for the ref "+ref)
		}
	}
	if content, ok := files[path]; ok {
		return fileAnswer(in, path, content)
	}
	list := entries(in.repo, files, path)
	if len(list) == 0 {
		return notFound()
	}
	return reply(http.StatusOK, list)
}

func fileAnswer(in *input, path, content string) answer {
	if strings.Contains(in.r.Header.Get("Accept"), "raw") {
		a := reply(http.StatusOK, nil)
		a.raw, a.foreign = []byte(content), true
		a.header.Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		return a
	}
	o := render.File(in.repo, path, content)
	o["encoding"], o["content"] = "base64", wrapped(content)
	if len(content) > maxInline {
		o["encoding"], o["content"] = "none", ""
	}
	return reply(http.StatusOK, o)
}

// wrapped returns content as base64 in lines of 60 characters, as GitHub sends it.
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
func entries(r *state.Repository, files map[string]string, dir string) []object {
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
			found[name] = render.Folder(r, full)
		} else {
			found[name] = render.File(r, full, content)
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

// getCommit answers with the commit of a name. As in git, a branch or a tag of that name wins over
// a commit whose hash begins with the name.
func getCommit(in *input) answer {
	ref := in.vars["ref"]
	sha := in.repo.Commit(ref)
	if sha == "" {
		return failure(http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
	}
	return reply(http.StatusOK, commit(in, sha, "Change"))
}

// commit renders a commit by the owner of the repository.
func commit(in *input, sha, message string) object {
	at, who := render.API(in.repo, "/commits/%s", sha), render.User(in.repo.Owner)
	by := object{"name": in.repo.Owner, "email": in.repo.Owner + "@example.com", "date": render.Stamp(in.repo.Created)}
	return object{
		"sha": sha, "node_id": "C_" + sha, "url": at, "html_url": render.Web(in.repo, "/commit/%s", sha), "comments_url": at + "/comments",
		"author": who, "committer": who, "parents": []object{},
		"commit": object{
			"author": by, "committer": by, "message": message, "comment_count": 0, "url": render.API(in.repo, "/git/commits/%s", sha),
			"tree": object{"sha": state.BlobSHA(sha), "url": render.API(in.repo, "/git/trees/%s", state.BlobSHA(sha))},
		},
	}
}

// getTree lists all files of the default branch, or of another ref. A repository without
// files has no tree.
func getTree(in *input) answer {
	files, sha := in.repo.Files, in.vars["sha"]
	if sha != "HEAD" && sha != "main" {
		if files = in.repo.Refs[sha]; files == nil {
			return notFound()
		}
	}
	if len(files) == 0 {
		return failure(http.StatusConflict, "Git Repository is empty.")
	}
	id := state.BlobSHA(sha)
	entries := []object{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if in.r.URL.Query().Get("recursive") == "" && strings.Contains(path, "/") {
			continue
		}
		blob := state.BlobSHA(files[path])
		entries = append(entries, object{
			"path": path, "mode": "100644", "type": "blob", "sha": blob, "size": len(files[path]), "url": render.API(in.repo, "/git/blobs/%s", blob),
		})
	}
	return reply(http.StatusOK, object{"sha": id, "url": render.API(in.repo, "/git/trees/%s", id), "tree": entries, "truncated": false})
}
