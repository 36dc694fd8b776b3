// Package expression compiles, evaluates and explains the expressions of rules: conditions
// and the {{ }} parts of templates. It is expr (github.com/expr-lang/expr) in a sandbox.
//
// An expression goes through these steps:
//
//   - [Compiler.Compile] parses the text. A guard refuses what could run away and passes the
//     state of the evaluation to our functions (guard.go); names of the symbol table are
//     resolved (resolve.go); types are checked; a linter refuses comparisons that are never
//     true (lint.go); loops and new text are charged to the meter (charge.go).
//   - [Evaluation.Eval] evaluates it for one event: on the fast path where the first
//     comparisons decide it (fastpath.go), else as a program, which is made then
//     (program.go).
//   - [Explainer.Explain] evaluates each part of it (explain.go), and [Expression.References],
//     [Expression.ResultReferences] and [Expression.LabelDependencies] describe what its
//     text names.
//
// The environment of a condition is in env.go, its functions in functions.go, builtins.go and
// lookup.go, and the messages for authors of rules in messages.go.
package expression
