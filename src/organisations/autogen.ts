import { z } from 'zod'
import { answersOf } from '../execution/conclusion.ts'
import type { Drive, DriveContext, Said } from '../execution/drive.ts'
import { roleCalled } from '../library/plain-roles.ts'
import { prompt } from '../library/prompt.ts'
import { atomicRoles } from './agents.ts'
import { defineOrganisation } from './organisation.ts'

const stopWord = 'TERMINATE'

const options = z.object({
  preset: z
    .enum(['two-agents', 'round-robin', 'selector'])
    .default('two-agents')
    .describe('assistant and critic, the roles in turn, or the roles as a model picks them'),
  turns: z
    .int()
    .min(1)
    .max(32)
    .optional()
    .describe('turns of the assistant (default 3) or of the group (default: one per role)'),
  agents: z.int().min(1).max(16).optional().describe('roles in the group; default: all in the library'),
})

type Settings = z.output<typeof options>

/** The paper names no configuration, so we offer three. Each speaker sees the whole conversation. */
export const autogen = defineOrganisation({
  name: 'autogen',
  category: 'established',
  description:
    'A conversation: an assistant and a critic, or a group chat of roles; the last message counts.',
  fidelity: 'released code',
  source: "microsoft/autogen; two agents as MASLab's methods/autogen, round-robin as AgentPrune used it.",
  differences: [
    'No code is executed, and messages are objects of our protocol.',
    'The critic also gives an answer of its own, which the assistant reads and nobody scores.',
  ],
  options,
  drive: ({ library }, settings): Drive => {
    const roles = atomicRoles(library).slice(0, settings.agents)
    return (context) =>
      settings.preset === 'two-agents' ? twoAgents(context, settings) : groupChat(context, settings, roles)
  },
})

/** Assistant and critic take turns until the critic's stop word or the last turn. The assistant's last answer counts. */
async function twoAgents(context: DriveContext, { turns = 3 }: Settings) {
  const said: Said[] = []
  for (let turn = 1; ; turn += 1) {
    const assistant = await context.agent({ role: 'solver', agent: 1, hears: said })
    said.push(assistant)
    if (turn === turns || isStopped(assistant)) return answerOf(assistant)
    const critic = await context.agent({ role: 'critic', agent: 2, hears: said, brief: mayStop })
    if (isStopped(critic)) return answerOf(assistant)
    said.push(critic)
  }
}

async function groupChat(context: DriveContext, { preset, turns }: Settings, roles: readonly string[]) {
  const said: Said[] = []
  for (let turn = 0; turn < (turns ?? roles.length); turn += 1) {
    const inTurn = roles[turn % roles.length]!
    const role = preset === 'round-robin' ? inTurn : await nextSpeaker(context, roles, said, inTurn)
    const speaker = await context.agent({ role, hears: said, brief: mayStop })
    said.push(speaker)
    if (isStopped(speaker)) break
  }
  return said.length === 0 ? undefined : answerOf(said.at(-1)!)
}

/** One call picks the next speaker. If its choice cannot be read, that is recorded and the next in order speaks. */
async function nextSpeaker(
  context: DriveContext,
  roles: readonly string[],
  said: readonly Said[],
  inTurn: string,
): Promise<string> {
  const candidates = roles.map((role) => ({
    role,
    description: roleCalled(context.library, role).description,
  }))
  const { value } = await context.consult({
    role: 'selector',
    prompt: prompt(
      `You are in a conversation of the roles under "candidates". Read it, then pick who speaks next.`,
    ),
    hears: said,
    brief: { candidates },
    reply: { speaker: 'the name of one of the candidates' },
    schema: z.object({ speaker: z.enum(roles) }),
    repair: false,
  })
  if (value === undefined) context.note('unreadable speaker', said.length + 1)
  return value?.speaker ?? inTurn
}

const mayStop = { stop_word: stopWord, use: `End your analysis with it if the last answer can stand.` }

function isStopped({ packet }: Said): boolean {
  return packet.analysis?.includes(stopWord) === true
}

function answerOf({ packet }: Said) {
  return answersOf([packet])[0]
}
