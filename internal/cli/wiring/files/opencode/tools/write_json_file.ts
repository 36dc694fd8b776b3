import { tool } from "@opencode-ai/plugin"
import { foreman } from "../foreman"

export default tool({
  description: "Writes a JSON file below the working directory, as a whole.",
  args: {
    path: tool.schema.string().describe("The file"),
    data: tool.schema.any().describe("The JSON value"),
  },
  async execute(args, context) {
    return foreman(["tool", "write_json_file"], args, context)
  },
})
