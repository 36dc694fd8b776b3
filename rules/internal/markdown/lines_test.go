package markdown

import (
	"strings"
	"testing"
)

func TestMarkdownLines(t *testing.T) {
	t.Parallel()
	// Lines of code are marked with "|".
	tests := []struct{ name, in, want string }{
		{"none", "a\nb", " a, b"},
		{"fence", "a\n```\nb\n```\nc", " a,|```,|b,|```, c"},
		{"tildes", "~~~ x\n```\n~~~", "|~~~ x,|```,|~~~"},
		{"longer end", "```\na\n`````", "|```,|a,|`````"},
		{"shorter line inside", "````\n```\n````", "|````,|```,|````"},
		{"end with words", "```\n``` x\n```", "|```,|``` x,|```"},
		{"indented", "   ```\na\n  ```", "|   ```,|a,|  ```"},
		{"indented too far", "    ```\na\n```", "     ```, a, ```"},
		{"code in a line", "```a```\nb\n```", " ```a```, b, ```"},
		{"never closed", "```\na", " ```, a"},
		{"never closed but for a shorter one", "````\na\n```\nb\n```", " ````, a,|```,|b,|```"},
		{"two", "```\n```\na\n~~~\n~~~", "|```,|```, a,|~~~,|~~~"},
		{"open before closed", "~~~\n```\na\n```", " ~~~,|```,|a,|```"},
		{"line ends", "```\r\na\r\n```\r\n", "|```,|a,|```"},
		{"tab behind", "```\na\n```\t", "|```,|a,|```\t"},
		{"quoted", "> ```\na\n> ```", " > ```, a, > ```"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range Lines(tt.in) {
				mark := " "
				if l.Code {
					mark = "|"
				}
				got = append(got, mark+l.Text)
			}
			if got := strings.Join(got, ","); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
