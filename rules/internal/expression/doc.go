// Package expression compiles, evaluates and explains the expressions of rules: conditions and the
// {{ }} parts of templates. It is expr (github.com/expr-lang/expr) in a sandbox.
//
// An expression goes through these steps:
//
//   - [Compiler.Compile] parses the text. A guard rejects expressions of unbounded cost and passes
//     the state of the evaluation to the functions of rules (guard.go). Names of the symbol table
//     are resolved (resolve.go). Types are checked. A linter rejects comparisons that are never
//     true (lint.go). Loops and new text are charged to the meter (charge.go).
//   - [Evaluation.Eval] runs the program of the expression for one event. The first evaluation builds
//     it (program.go).
//   - [Explainer.Explain] evaluates each part of the expression (explain.go).
//     [Expression.References], [Expression.ResultReferences] and [Expression.LabelDependencies]
//     describe the names in its text.
//
// The environment of a condition is in env.go. Its functions are in functions.go, builtins.go and
// lookup.go, and those of the program in own.go. A new look-up is a row of facts.LookupSpecs
// and a case in runner/internal/lookups. The messages for authors of rules are in messages.go.
package expression
