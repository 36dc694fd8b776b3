import { tool } from "@opencode-ai/plugin"
import { foreman } from "../foreman"

export default tool({
  description: "Checks the inspector_result as the pipeline will, and lists the files that changed.",
  args: {
    data: tool.schema.record(tool.schema.string(), tool.schema.any()).optional().describe("The inspector_result object itself"),
    path: tool.schema.string().optional().describe("A file below the working directory; inspector_result.json if absent"),
  },
  async execute(args, context) {
    return foreman(["tool", "check-inspector-handoff"], args, context)
  },
})
