// Names of OpenTelemetry's conventions for generative AI, which are still in development and live in
// open-telemetry/semantic-conventions-genai (docs/gen-ai/gen-ai-spans.md, gen-ai-agent-spans.md). This file is the only
// place to change when they do.

export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev'

export const operations = {
  workflow: 'invoke_workflow',
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
} as const

export const attributes = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  workflowName: 'gen_ai.workflow.name',
  agentName: 'gen_ai.agent.name',
  agentId: 'gen_ai.agent.id',
  requestModel: 'gen_ai.request.model',
  temperature: 'gen_ai.request.temperature',
  maxTokens: 'gen_ai.request.max_tokens',
  outputType: 'gen_ai.output.type',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  cachedInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolDescription: 'gen_ai.tool.description',
  errorType: 'error.type',
  // Content, which is opt-in.
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
} as const

/** What the conventions have no name for. */
export const ownAttributes = {
  execution: 'magic.execution.id',
  task: 'magic.task.id',
  part: 'magic.node.part',
  role: 'magic.node.role',
  status: 'magic.status',
  attempts: 'magic.call.attempts',
  reused: 'magic.call.reused',
} as const
