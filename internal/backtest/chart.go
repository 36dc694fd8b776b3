package backtest

import "fmt"

// The sizes of the charts, in pixels.
const (
	chartWidth = 880
	nameWidth  = 220
	barHeight  = 22
	maxBars    = 100 // rules in a chart
)

// verdicts draws a bar for each rule, which shows how often people agree with it.
func (p *page) verdicts(r Report) {
	most, rows := 0, []Rule{}
	for _, rule := range r.Rules {
		if rule.Judged && rule.State != "removed" && len(rows) < maxBars {
			rows = append(rows, rule)
			most = max(most, rule.Agreed+rule.Disagreed+rule.Undecided)
		}
	}
	if most == 0 {
		return
	}
	p.element("h2", "Agreement of people with the rules")
	p.svg(len(rows)*barHeight+30, "Agreement, disagreement and undecided issues, for each rule")
	scale := float64(chartWidth-nameWidth-120) / float64(most)
	for k, rule := range rows {
		y := k * barHeight
		p.label(0, y+15, clipTo(rule.ID, 30))
		x := float64(nameWidth)
		for _, part := range []struct {
			class, name string
			n           int
		}{{"good", "agreed", rule.Agreed}, {"bad", "disagreed", rule.Disagreed}, {"open", "undecided", rule.Undecided}} {
			width := float64(part.n) * scale
			p.bar(rect{x, float64(y + 3), width, barHeight - 6}, part.class, fmt.Sprintf("%s: %d %s", rule.ID, part.n, part.name))
			x += width
		}
		p.label(int(x)+8, y+15, fmt.Sprintf("%s right, %s found", percent(rule.Precision), percent(rule.Recall)))
	}
	y := len(rows)*barHeight + 20
	for k, part := range [][2]string{{"good", "agreed"}, {"bad", "disagreed"}, {"open", "undecided"}} {
		x := nameWidth + k*120
		p.bar(rect{float64(x), float64(y - 10), 10, 10}, part[0], part[1])
		p.label(x+16, y, part[1])
	}
	p.raw("</svg>\n")
}

// months draws how many issues were opened in each month, and on how many of them a
// rule fires.
func (p *page) months(r Report) {
	most := 0
	for _, m := range r.Months {
		most = max(most, m.Issues)
	}
	if most == 0 {
		return
	}
	const height, base = 160, 140
	p.element("h2", "Issues by month, and those on which a rule fires")
	p.svg(height, "Issues by month")
	width := float64(chartWidth) / float64(len(r.Months))
	every := 1 + len(r.Months)*60/chartWidth
	for k, m := range r.Months {
		x := float64(k) * width
		tip := fmt.Sprintf("%s: %s, a rule fires on %d", m.Month, many(m.Issues, "issue"), m.Fired)
		if r.ComparedWith != "" {
			tip += fmt.Sprintf(", before on %d", m.OldFired)
		}
		for _, part := range []struct {
			class string
			n     int
		}{{"old", m.Issues}, {"bar", m.Fired}} {
			tall := float64(part.n) * (base - 10) / float64(most)
			p.bar(rect{x + width*0.1, base - tall, width * 0.8, tall}, part.class, tip)
		}
		if k%every == 0 {
			p.label(int(x), base+15, m.Month)
		}
	}
	p.raw("</svg>\n")
}

// svg begins a chart.
func (p *page) svg(height int, title string) {
	p.raw(fmt.Sprintf(`<svg role="img" width="%d" height="%d" viewBox="0 0 %d %d">`, chartWidth, height, chartWidth, height) + "\n")
	p.element("title", title)
}

// A rect is the position and size of a bar.
type rect struct{ x, y, width, height float64 }

// bar draws a bar with a tooltip.
func (p *page) bar(r rect, class, tip string) {
	if r.width <= 0 || r.height <= 0 {
		return
	}
	p.raw(fmt.Sprintf(`<rect class=%q x="%.1f" y="%.1f" width="%.1f" height="%.1f">`, class, r.x, r.y, r.width, r.height))
	p.raw("<title>")
	p.text(tip)
	p.raw("</title></rect>\n")
}

func (p *page) label(x, y int, text string) {
	p.raw(fmt.Sprintf(`<text x="%d" y="%d">`, x, y))
	p.text(text)
	p.raw("</text>\n")
}

func clipTo(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
