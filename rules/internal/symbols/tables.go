package symbols

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// The limits of tables.
const (
	MaxTables = 100    // of all files together
	MaxRows   = 10_000 // of all tables together
	MaxCell   = 1000   // characters of a key or a text
	MaxItems  = 100    // texts of a list
)

// Rows are the rows of a table in its file.
type Rows struct {
	Name string
	File *yamlfile.File
	Node *yaml.Node // a mapping; nil: the table does not exist
}

// declareTables reads the value of "tables", a mapping of names to rows. Mistakes are recorded in
// f. A table with mistakes is declared with its correct rows.
func (t *Table) declareTables(f *yamlfile.File, n *yaml.Node) {
	eachName(f, n, "tables", func(key, value *yaml.Node) {
		switch _, twice := t.Tables[key.Value]; {
		case twice:
			f.Problemf(key, "tables: %s is declared twice", key.Value)
			return
		case len(t.Tables) == MaxTables:
			f.Problemf(key, "tables: more than %d names", MaxTables)
			return
		}
		t.Tables[key.Value] = map[string]string{}
		if value.Kind != yaml.MappingNode {
			f.Problemf(value, "tables.%s: want a mapping of keys to values, got %s", key.Value, yamlfile.Kind(value))
			return
		}
		if t.rows += len(value.Content) / 2; t.rows > MaxRows {
			f.Problemf(value, "tables: more than %d rows in all", MaxRows)
			return
		}
		t.Tables[key.Value] = tableOf(f, value)
		t.RowsOf[key.Value] = Rows{key.Value, f, value}
	})
}

// TableSum returns a sum of the content of a table, which does not depend on the order of its rows; "" if
// there is no such table. It sums each table once.
func (t *Table) TableSum(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	table, known := t.Tables[name]
	if !known {
		return ""
	}
	sum, ok := t.sums[name]
	if !ok {
		if t.sums == nil {
			t.sums = map[string]string{}
		}
		// fmt sorts the keys of maps, and the type distinguishes 1 from 1.0 and from "1".
		sum = fmt.Sprintf("(table %x)", sha256.Sum256(fmt.Appendf(nil, "%T %#v", table, table)))
		t.sums[name] = sum
	}
	return sum
}

// A cell is a value of a row, with the name of its kind.
type cell struct {
	value any
	kind  string
}

// tableOf returns a map of string to string, int, float64, bool or []string. All values of a table
// have the same type; a text in a table with lists becomes a list of one.
func tableOf(f *yamlfile.File, n *yaml.Node) any {
	cells := map[string]any{}
	kind, fraction, lists := "", false, false
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		c, ok := cellOf(f, value)
		switch {
		case !ok && value.Kind == yaml.SequenceNode:
			continue // its mistakes are already reported
		case !ok:
			f.Problemf(value, "%s: want text, a number, true or false, or a list of texts, got %s", text.Shorten(key.Value, text.Quoted), yamlfile.Kind(value))
			continue
		case utf8.RuneCountInString(key.Value) > MaxCell || utf8.RuneCountInString(value.Value) > MaxCell:
			f.Problemf(key, "a row has a key or a value of more than %d characters", MaxCell)
			continue
		case kind == "":
			kind = c.kind
		case kind != c.kind:
			f.Problemf(value, "%s: want %s as in the rows above, got %s; quote a text that looks like another type", text.Shorten(key.Value, text.Quoted), kind, c.kind)
			continue
		}
		_, isFloat := c.value.(float64)
		_, isList := c.value.([]string)
		fraction, lists = fraction || isFloat, lists || isList
		cells[key.Value] = c.value
	}
	switch {
	case lists:
		return listsOf(cells)
	case fraction:
		return floats(cells)
	case kind == kindNumber:
		return typed[int](cells)
	case kind == kindBool:
		return typed[bool](cells)
	}
	return typed[string](cells)
}

const (
	kindText   = "text"
	kindNumber = "a number"
	kindBool   = "true or false"
)

// cellOf reads the value of a row. ok is false for other kinds of values. Mistakes inside a list
// are recorded in f.
func cellOf(f *yamlfile.File, n *yaml.Node) (cell, bool) {
	if n.Kind == yaml.SequenceNode {
		return listCell(f, n)
	}
	if n.Kind != yaml.ScalarNode {
		return cell{}, false
	}
	switch n.ShortTag() {
	case "!!str":
		return cell{n.Value, kindText}, true
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return cell{b, kindBool}, err == nil
	case "!!int":
		var i int
		err := n.Decode(&i)
		return cell{i, kindNumber}, err == nil
	case "!!float":
		x, err := strconv.ParseFloat(n.Value, 64)
		return cell{x, kindNumber}, err == nil && x-x == 0 // neither infinite nor NaN
	}
	return cell{}, false
}

func listCell(f *yamlfile.File, n *yaml.Node) (cell, bool) {
	if len(n.Content) > MaxItems {
		f.Problemf(n, "a list has %d items; at most %d are allowed", len(n.Content), MaxItems)
		return cell{}, false
	}
	list, before := []string{}, f.ErrorCount()
	for _, item := range n.Content {
		switch {
		case item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str":
			f.Problemf(item, "want a text in the list, got %s; quote a text that looks like another type", yamlfile.Kind(item))
		case utf8.RuneCountInString(item.Value) > MaxCell:
			f.Problemf(item, "a text of more than %d characters", MaxCell)
		default:
			list = append(list, item.Value)
		}
	}
	return cell{list, kindText}, f.ErrorCount() == before
}

func listsOf(cells map[string]any) map[string][]string {
	m := make(map[string][]string, len(cells))
	for k, v := range cells {
		switch v := v.(type) {
		case string:
			m[k] = []string{v}
		case []string:
			m[k] = v
		}
	}
	return m
}

func typed[T any](cells map[string]any) map[string]T {
	m := make(map[string]T, len(cells))
	for k, v := range cells {
		m[k], _ = v.(T)
	}
	return m
}

func floats(cells map[string]any) map[string]float64 {
	m := make(map[string]float64, len(cells))
	for k, v := range cells {
		switch n := v.(type) {
		case int:
			m[k] = float64(n)
		case float64:
			m[k] = n
		}
	}
	return m
}
