/** The built-in tools, in the order prompts list them. */
export const builtInTools = ['calculator', 'python_exec', 'public_code', 'table_reader'] as const

export type BuiltInTool = (typeof builtInTools)[number]

/** A built-in tool, or one registered by the user. */
export type ToolName = BuiltInTool | (string & Record<never, never>)

/** Built-in tools first, in their order; then a user's own, by name. For `Array.prototype.sort`. */
export function compareTools(a: ToolName, b: ToolName): number {
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0)
}

function rank(tool: ToolName): number {
  const position = (builtInTools as readonly string[]).indexOf(tool)
  return position === -1 ? builtInTools.length : position
}
