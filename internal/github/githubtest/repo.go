package githubtest

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

func rateLimit(in *input) answer {
	core := object{"limit": 5000, "remaining": 4999, "used": 1, "reset": in.clock.Now().Unix() + 3600}
	return reply(http.StatusOK, object{"resources": object{"core": core, "search": core}, "rate": core})
}

// currentUser refuses the token of an app or of Actions, as GitHub does.
func currentUser(in *input) answer {
	if strings.HasSuffix(in.actor, "[bot]") {
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	}
	return reply(http.StatusOK, profile(in.actor, in.clock.Now()))
}

// profile renders an account with its public profile.
func profile(login string, created time.Time) object {
	u := render.User(login)
	at := render.Stamp(created)
	maps.Copy(u, object{
		"name": nil, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"public_repos": 1, "public_gists": 0, "followers": 0, "following": 0, "created_at": at, "updated_at": at,
	})
	return u
}

// getUser answers with an account of [Server.SetAccount].
func getUser(in *input) answer {
	a, ok := in.accounts[strings.ToLower(in.vars["login"])]
	if !ok {
		return notFound()
	}
	u := profile(a.Login, a.CreatedAt)
	if a.ID != 0 {
		u["id"] = a.ID
	}
	return reply(http.StatusOK, u)
}

func getRepo(in *input) answer { return reply(http.StatusOK, render.Repository(in.repo)) }

func getAssignee(in *input) answer {
	if !slices.ContainsFunc(in.repo.Users, state.Same(in.vars["login"])) {
		return notFound()
	}
	return reply(http.StatusNoContent, nil)
}

// permissionOf returns the permission from SetPermission, or else "write" for users of the
// repository and "read" for others, because the repository is public.
func permissionOf(r *state.Repository, login string) string {
	if p := r.Permissions[strings.ToLower(login)]; p != "" {
		return p
	}
	if slices.ContainsFunc(r.Users, state.Same(login)) {
		return "write"
	}
	return "read"
}

// getPermission answers with the permission of an account, in the words of GitHub.
func getPermission(in *input) answer {
	login := in.vars["login"]
	permission := permissionOf(in.repo, login)
	u := render.User(login)
	u["role_name"] = permission
	// The field "permission" has no values "maintain" and "triage"; GitHub reports the next lower
	// role.
	base := map[string]string{"maintain": "write", "triage": "read"}
	return reply(http.StatusOK, object{"permission": cmp.Or(base[permission], permission), "role_name": permission, "user": u})
}

// listCaches lists the caches of workflows: the fake has none.
func listCaches(*input) answer {
	return reply(http.StatusOK, object{"total_count": 0, "actions_caches": []object{}})
}
