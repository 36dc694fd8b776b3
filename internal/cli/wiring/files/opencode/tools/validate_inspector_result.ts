import { tool } from "@opencode-ai/plugin"
import { foreman } from "../foreman"

export default tool({
  description: "Validates an inspector_result, an object or a file. Repair what errors lists until ok is true.",
  args: {
    data: tool.schema.record(tool.schema.string(), tool.schema.any()).optional().describe("The inspector_result object itself"),
    path: tool.schema.string().optional().describe("A file below the working directory; inspector_result.json if absent"),
  },
  async execute(args, context) {
    return foreman(["validate", "inspector"], args, context)
  },
})
