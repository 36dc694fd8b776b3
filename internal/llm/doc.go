// Package llm asks a language model for a text.
//
// It supports two APIs: the Messages API of Anthropic, and the chat completions of OpenAI, which
// many other servers offer, such as Ollama. A [Client] sends one prompt and gets one text: no
// tools, no streaming, no conversation. Size and time of the answer are limited, and a truncated
// text is an error. A Client implements summarize.Model.
package llm
