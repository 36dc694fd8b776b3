//go:build js && wasm

// Playground is the rule engine for a browser: it defines the function foremanAnswer, from the
// JSON of a request to that of its response.
package main

import (
	"context"
	"syscall/js"
	"time"

	"github.com/org/foreman-action/site/internal/playground"
)

func main() {
	engine := playground.Engine{Now: time.Now}
	answer := js.FuncOf(func(_ js.Value, args []js.Value) any {
		return engine.AnswerJSON(context.Background(), args[0].String())
	})
	js.Global().Set("foremanAnswer", answer)
	select {}
}
