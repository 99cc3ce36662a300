import type { BuiltInTool } from '../../library/tool-name.ts'
import { calculator } from './calculator.ts'
import { publicCode } from './public-code.ts'
import { pythonExec } from './python-exec.ts'
import { tableReader } from './table-reader.ts'
import type { Tool } from './tool.ts'

/** The paper's four tools. A library says which executor may use which. */
export const tools: Readonly<Record<BuiltInTool, Tool>> = {
  calculator,
  python_exec: pythonExec,
  public_code: publicCode,
  table_reader: tableReader,
}
