package githubtest

import (
	"fmt"
	"net/http"
	"strings"
)

// getCommit answers with the commit that a name stands for: a branch or a tag of that
// name wins over the first digits of a commit, as in git.
func getCommit(in *input) answer {
	ref := in.vars["ref"]
	sha := in.repo.commit(ref)
	if sha == "" {
		return failure(http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
	}
	at, who := in.repo.api("/commits/%s", sha), renderUser(in.repo.owner)
	by := object{"name": in.repo.owner, "email": in.repo.owner + "@example.com", "date": stamp(in.repo.created)}
	return reply(http.StatusOK, object{
		"sha": sha, "node_id": "C_" + sha, "url": at, "html_url": in.repo.web("/commit/%s", sha), "comments_url": at + "/comments",
		"author": who, "committer": who, "parents": []object{},
		"commit": object{
			"author": by, "committer": by, "message": "Change", "comment_count": 0, "url": in.repo.api("/git/commits/%s", sha),
			"tree": object{"sha": blobSHA(sha), "url": in.repo.api("/git/trees/%s", blobSHA(sha))},
		},
	})
}

// commit returns the digits of the commit that a name stands for; empty: none.
func (r *Repo) commit(name string) string {
	for _, ref := range []string{name, "refs/tags/" + name, "refs/heads/" + name} {
		if _, ok := r.refs[ref]; ok && !digits(ref) {
			return blobSHA(fmt.Sprintf("%s/%s %s", r.owner, r.name, ref))
		}
	}
	var found []string
	for ref := range r.refs {
		if digits(ref) && len(name) >= 4 && strings.HasPrefix(ref, name) {
			found = append(found, ref)
		}
	}
	if len(found) != 1 { // none, or it is not clear which
		return ""
	}
	return found[0]
}

// digits reports whether a ref is a commit.
func digits(ref string) bool {
	return len(ref) == 40 && strings.Trim(ref, "0123456789abcdef") == ""
}
