import { tool } from "@opencode-ai/plugin"
import { foreman } from "../foreman"

export default tool({
  description: "Reads a JSON file below the working directory.",
  args: {
    path: tool.schema.string().describe("The file"),
  },
  async execute(args, context) {
    return foreman(["tool", "read_json_file"], args, context)
  },
})
