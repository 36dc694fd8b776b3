package expression

import (
	"github.com/expr-lang/expr/vm"
)

// compile compiles src to its program; the error is an *Error.
func (c *Compiler) compile(src string, w Type) (*vm.Program, error) {
	x, err := c.check(src, w)
	if err != nil {
		return nil, err
	}
	return x.compiled()
}
