import { z } from 'zod'
import { ExpressionError, evaluateExpression, functionNames } from './arithmetic.ts'
import { type Tool, toolError } from './tool.ts'

const payload = z.object({ expression: z.string() })

export const calculator: Tool<z.infer<typeof payload>> = {
  name: 'calculator',
  description:
    'calculator evaluates one arithmetic expression: {"expression": "(120 - 100) / 100 * 100"}. It knows numbers, ' +
    `+ - * / % ^, parentheses and ${functionNames.join(', ')}; % is the remainder and ^ the power.`,
  payload,
  async run({ expression }) {
    try {
      return { status: 'ok', result: { value: evaluateExpression(expression) } }
    } catch (problem) {
      if (problem instanceof ExpressionError) return toolError('bad_payload', problem.message)
      throw problem
    }
  },
}
