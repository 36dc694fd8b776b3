package githubtest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// graphQLPath is the path of the GraphQL API.
const graphQLPath = "/graphql"

//go:embed testdata/github-subset.graphql
var schemaText string

// loadSchema parses the schema once for all servers of a process. The schema is not modified
// afterwards.
var loadSchema = sync.OnceValues(func() (*ast.Schema, error) {
	return gqlparser.LoadSchema(&ast.Source{Name: "github-subset.graphql", Input: schemaText})
})

// A query is a mutation that the schema permits, with its variables.
type query struct {
	fields ast.SelectionSet
	vars   map[string]any
}

// parseQuery checks the body of a call against the schema.
func parseQuery(body []byte) (query, error) {
	schema, err := loadSchema()
	if err != nil {
		return query{}, err
	}
	var in struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return query{}, err
	}
	doc, problems := gqlparser.LoadQueryWithRules(schema, in.Query, rules.NewDefaultRules())
	if len(problems) > 0 {
		return query{}, problems
	}
	if len(doc.Operations) != 1 || doc.Operations[0].Operation != ast.Mutation {
		return query{}, errors.New("the fake supports only one mutation")
	}
	op := doc.Operations[0]
	vars, err := validator.VariableValues(schema, op, in.Variables)
	if err != nil {
		return query{}, err
	}
	return query{op.SelectionSet, vars}, nil
}

// A queryError is an error in an answer of the GraphQL API.
type queryError struct{ kind, message string }

// graphQL answers a call to the GraphQL API.
func graphQL(in *input) answer {
	q, err := parseQuery(in.body)
	if err != nil { // an invalid query is also reported as a problem
		return reply(http.StatusOK, object{"errors": []object{{"message": err.Error(), "extensions": object{"code": "invalidQuery"}}}})
	}
	data, failed := object{}, []object(nil)
	for _, s := range q.fields {
		f, ok := s.(*ast.Field)
		if !ok {
			continue
		}
		args, _ := f.ArgumentMap(q.vars)["input"].(map[string]any)
		mutate := removeLabelsFromLabelable
		if f.Name == "minimizeComment" {
			mutate = minimizeComment
		}
		payload, e := mutate(in, args)
		if e != nil {
			data[f.Alias] = nil
			failed = append(failed, object{"type": e.kind, "path": []string{f.Alias}, "message": e.message})
			continue
		}
		data[f.Alias] = selected(f.SelectionSet, payload)
	}
	body := object{"data": data}
	if failed != nil {
		body["errors"] = failed
	}
	return reply(http.StatusOK, body)
}

// removeLabelsFromLabelable removes labels from an issue or a pull request. It ignores labels that
// the issue does not have. If a label does not exist in the repository, it changes nothing.
func removeLabelsFromLabelable(in *input, args map[string]any) (object, *queryError) {
	id, _ := args["labelableId"].(string)
	repo, issue := in.labelable(id)
	if issue == nil {
		return nil, noNode(id)
	}
	if repo.About.Archived {
		return nil, &queryError{"UNPROCESSABLE", "Repository was archived so is read-only."}
	}
	ids, _ := args["labelIds"].([]any)
	var names []string
	for _, id := range ids {
		id, _ := id.(string)
		label := labelByNode(repo, id)
		if label == nil {
			return nil, noNode(id)
		}
		names = append(names, label.Name)
	}
	for _, name := range names {
		repo.RemoveLabel(issue, in.actor, name)
	}
	o := object{"__typename": render.KindOf(issue), "id": id, "number": issue.Number, "title": issue.Title, "viewerCanLabel": true}
	return object{"clientMutationId": args["clientMutationId"], "labelable": o}, nil
}

// minimizeComment hides a comment, also one that is hidden for another reason. Users without write
// access can hide only their own comments.
func minimizeComment(in *input, args map[string]any) (object, *queryError) {
	id, _ := args["subjectId"].(string)
	for _, r := range in.repos {
		for _, i := range r.Issues {
			for k := range i.Comments {
				c := &i.Comments[k]
				switch {
				case !i.Visible() || render.NodeID("IssueComment", c.ID) != id:
					continue
				case r.About.Archived:
					return nil, &queryError{"UNPROCESSABLE", "Repository was archived so is read-only."}
				case !strings.EqualFold(c.Author, in.actor) && permissionOf(r, in.actor) == "read":
					return nil, &queryError{"FORBIDDEN", in.actor + " does not have permission to minimize the comment"}
				}
				classifier, _ := args["classifier"].(string)
				c.Minimized = strings.ToLower(strings.ReplaceAll(classifier, "_", "-"))
				o := object{"__typename": "IssueComment", "isMinimized": true, "minimizedReason": c.Minimized, "viewerCanMinimize": true}
				return object{"clientMutationId": args["clientMutationId"], "minimizedComment": o}, nil
			}
		}
	}
	return nil, noNode(id)
}

func noNode(id string) *queryError {
	return &queryError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'.", id)}
}

// labelable returns the issue or pull request with an id; nil if it does not exist or was deleted.
func (in *input) labelable(id string) (*state.Repository, *state.Record) {
	for _, r := range in.repos {
		for _, i := range r.Issues {
			if i.Visible() && render.NodeID(render.KindOf(i), i.ID) == id {
				return r, i
			}
		}
	}
	return nil, nil
}

func labelByNode(r *state.Repository, id string) *state.Label {
	for _, l := range r.Labels {
		if render.NodeID("Label", l.ID) == id {
			return l
		}
	}
	return nil
}

// selected returns the fields of an object that a query asks for.
func selected(set ast.SelectionSet, o object) object {
	out := object{}
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			out[s.Alias] = o[s.Name]
			if inner, ok := o[s.Name].(object); ok {
				out[s.Alias] = selected(s.SelectionSet, inner)
			}
		case *ast.InlineFragment:
			if s.TypeCondition != "" && s.TypeCondition != o["__typename"] {
				continue
			}
			maps.Copy(out, selected(s.SelectionSet, o))
		}
	}
	return out
}
