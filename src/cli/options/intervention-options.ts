import { type Command, InvalidArgumentError } from 'commander'
import type { Interventions } from '../../evaluation/interventions.ts'
import type { Library } from '../../library/library.ts'
import { isPlainRole } from '../../library/plain-roles.ts'
import { UsageError } from '../problem.ts'

export type InterventionOptions = Interventions

/** How much does the answer depend on the organisation? */
export function addInterventionOptions(command: Command): Command {
  return command
    .optionsGroup('Interventions:')
    .option('--rewire', 'exchange edges at random; every unit keeps as many as it had')
    .option('--drop-role <role>', 'take the units of a role out of every graph')
    .option('--corrupt-message <p>', 'garble each message with this probability', probability)
    .option('--fail-worker <p>', 'fail each agent with this probability', probability)
    .optionsGroup('')
}

/** What was asked for, checked before anything is spent. */
export function givenInterventions(options: InterventionOptions, library: Library): Interventions {
  const { rewire, dropRole, corruptMessage, failWorker } = options
  if (dropRole !== undefined && !isPlainRole(dropRole) && library.roles.every(({ id }) => id !== dropRole))
    throw new UsageError(
      `--drop-role: there is no role '${dropRole}'. There are: ${library.roles.map(({ id }) => id).join(', ')}.`,
    )
  return { rewire, dropRole, corruptMessage, failWorker }
}

function probability(text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (text.trim() === '' || !(value > 0 && value <= 1))
    throw new InvalidArgumentError('It must be above 0 and at most 1, or 100%.')
  return value
}
