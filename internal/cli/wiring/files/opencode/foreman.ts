// Calls the program foreman for the tools beside this file: JSON goes in, one line of JSON comes out.
import { spawnSync } from "node:child_process"

export function foreman(command: string[], input: object, context?: { directory?: string }): string {
  const { stdout, error } = spawnSync("foreman", command, {
    cwd: context?.directory ?? process.cwd(),
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  })
  if (stdout) return stdout.trim()
  const message = `foreman ${command.join(" ")}: ${error?.message ?? "no answer"}; is foreman installed and in PATH?`
  return JSON.stringify({ ok: false, errors: [{ path: "<tool>", code: "unexpected_error", message }] })
}
