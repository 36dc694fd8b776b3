package similarity

import (
	"fmt"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 3 * maxWords {
		fmt.Fprintf(&many, "word%d ", i)
	}
	var distinct strings.Builder
	for c := '一'; c < '一'+3*maxWords; c++ {
		distinct.WriteRune(c)
	}
	tests := []struct {
		a, b string
		want float64
	}{
		{"", "", 0},
		{"a an of", "a an of", 0},
		{"How do I install this?", "how DO I install this", 1},
		{"install this", "remove this", 1.0 / 3},
		{"Übung macht", "übung", 0.5},
		{"如何安装", "如何安装", 1},           //nolint:gosmopolitan // the texts that are compared
		{"如何安装软件", "安装软件失败", 3.0 / 7}, //nolint:gosmopolitan // the texts that are compared
		{"インストールできない", "インストールできません", 7.0 / 12},
		{"ติดตั้งไม่ได้", "ติดตั้งไม่ได้", 1},
		{"猫", "猫", 1},  //nolint:gosmopolitan // the texts that are compared
		{"猫", "猫猫", 0}, //nolint:gosmopolitan // the texts that are compared
		{"install 失败 on Windows", "install失败windows", 1},                //nolint:gosmopolitan // the texts that are compared
		{"安装 GitHub", "安装 Gitlab", 1.0 / 3},                             //nolint:gosmopolitan // the texts that are compared
		{"崩溃。启动", "崩溃，启动", 1},                                           //nolint:gosmopolitan // the texts that are compared
		{strings.Repeat("启动崩溃", 5461), strings.Repeat("启动崩溃", 5461), 1}, //nolint:gosmopolitan // the texts that are compared
		{strings.Repeat("a", 65_536), strings.Repeat("a", 65_536), 1},
		{distinct.String(), distinct.String(), 1},
		{distinct.String() + "猫狗", "猫狗", 0}, //nolint:gosmopolitan // the texts that are compared
		{"\xff\xfe猫", "猫", 1},               //nolint:gosmopolitan // the texts that are compared
		{many.String(), many.String(), 1},
		{many.String() + "last", "last", 0},
	}
	for _, tt := range tests {
		if got := Of(tt.a, tt.b); got != tt.want {
			t.Errorf("Of(%.20q, %.20q): got %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
