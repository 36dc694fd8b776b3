package backtest

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
)

const (
	maxMarkdown  = 60_000 // bytes; GitHub allows 65,536 characters
	maxLinksHere = 5      // links of one kind under a rule
)

// Markdown returns a report as a comment on a pull request that changes the rules. It contains the
// differences from the old rules, and the issues on which people disagree. It is at most 60,000
// bytes long. It contains no mention and no reference to an issue, whatever the titles contain.
// Links lead to issues through a redirect, so that GitHub adds no reference to these issues.
func Markdown(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### The rules, replayed\n\n%s", sanitize.Value(headline(r)))
	if r.ComparedWith != "" {
		b.WriteString(", compared with " + sanitize.Value(r.ComparedWith))
	}
	b.WriteString(".\n")
	if r.Stopped != nil {
		fmt.Fprintf(&b, "\n**Not complete:** %s.\n", sanitize.Value(r.Stopped.String()))
	}
	head := columns(r)
	fmt.Fprintf(&b, "\n| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("---:|", len(head)-1))
	left := 0
	for _, rule := range r.Rules {
		row := cells(r, rule)
		for k, cell := range row {
			row[k] = sanitize.Value(cell)
		}
		line := "| " + strings.Join(row, " | ") + " |\n"
		if b.Len()+len(line) > maxMarkdown/2 {
			left++
			continue
		}
		b.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%s more.\n", many(left, "rule"))
	}
	end := markdownNotes(r)
	left = 0
	for _, rule := range r.Rules {
		part := markdownRule(rule)
		if b.Len()+len(part)+len(end)+100 > maxMarkdown {
			left++
			continue
		}
		b.WriteString(part)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nThe details of %s are left out.\n", many(left, "rule"))
	}
	return b.String() + end
}

// markdownRule renders the details of a rule, which do not fit into the table.
func markdownRule(r Rule) string {
	var list []string
	if r.NotReplayed != "" {
		list = append(list, "- not replayed: "+sanitize.Value(r.NotReplayed))
	}
	if r.Failed > 0 {
		list = append(list, fmt.Sprintf("- cannot be judged on %s, and does nothing there: %s", many(r.Failed, "issue"), sanitize.Value(oneLine(r.Failure))))
	}
	for _, l := range []struct {
		title string
		links []Link
		all   int
	}{
		{"people disagree", r.Disagreements, r.Disagreed},
		{"newly fires", r.NewlyFiresOn, r.NewlyFires}, {"no longer fires", r.NoLongerFiresOn, r.NoLongerFires},
	} {
		if l.all == 0 {
			continue
		}
		list = append(list, fmt.Sprintf("- %s on %s, such as", l.title, many(l.all, "issue")))
		for _, link := range l.links[:min(len(l.links), maxLinksHere)] {
			list = append(list, "  - "+markdownLink(link)+" "+sanitize.Value(link.Title+suffix(link)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", sanitize.Value(r.ID), strings.Join(list, "\n"))
}

// markdownLink returns a link to an issue through a redirect. With a plain address GitHub would add
// a reference to every issue that the comment links to.
func markdownLink(l Link) string {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host != "github.com" {
		return fmt.Sprintf("`%d`", l.Issue)
	}
	u.Scheme, u.Host, u.User, u.RawQuery, u.Fragment = "https", "redirect.github.com", nil, "", ""
	return fmt.Sprintf("[%d](%s)", l.Issue, u)
}

func markdownNotes(r Report) string {
	var b strings.Builder
	b.WriteString("\n<details><summary>How to read this</summary>\n\n")
	for _, n := range r.Notes {
		b.WriteString("- " + sanitize.Value(n) + "\n")
	}
	b.WriteString("\n</details>\n")
	return b.String()
}
