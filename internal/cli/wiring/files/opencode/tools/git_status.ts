import { tool } from "@opencode-ai/plugin"
import { foreman } from "../foreman"

export default tool({
  description: "Lists the files that changed in the working tree.",
  args: {},
  async execute(args, context) {
    return foreman(["tool", "git_status"], args, context)
  },
})
