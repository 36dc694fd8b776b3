import { tool } from "@opencode-ai/plugin"
import { foreman } from "../foreman"

export default tool({
  description: "Shows what the commits since a base changed, as a diff.",
  args: {
    baseRef: tool.schema.string().optional().describe("The base: a branch, a tag or a commit; main if absent"),
    max_bytes: tool.schema.number().int().optional().describe("The most bytes of the diff; 1048576 if absent"),
  },
  async execute(args, context) {
    return foreman(["tool", "git_diff_main_head"], args, context)
  },
})
