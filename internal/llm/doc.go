// Package llm asks a language model for a text.
//
// It speaks two wires: the Messages API of Anthropic, and the chat completions of OpenAI, which
// many servers offer, Ollama among them. A [Client] sends one prompt and gets one text: no
// tools, no streaming, no conversation. The answer is limited in size and time, and a truncated
// text is an error. It satisfies memory.Model.
package llm
