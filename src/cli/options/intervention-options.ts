import { type Command, InvalidArgumentError } from 'commander'
import type { Interventions } from '../../evaluation/interventions.ts'
import type { Library } from '../../library/library.ts'
import { isPlainRole } from '../../library/plain-roles.ts'
import { UsageError } from '../problem.ts'

export type InterventionOptions = Interventions

/** Disturbances that show how much the answers depend on the organisation. */
export function addInterventionOptions<Given extends Command>(command: Given): Given {
  return command
    .optionsGroup('Interventions:')
    .option('--rewire', 'swap edges at random; each unit keeps its number of edges')
    .option('--drop-role <role>', 'remove a role from every graph')
    .option('--corrupt-message <p>', 'garble each message with this probability', probability)
    .option('--fail-worker <p>', 'fail each agent with this probability', probability)
    .optionsGroup('')
}

export function givenInterventions(options: InterventionOptions, library: Library): Interventions {
  const { rewire, dropRole, corruptMessage, failWorker } = options
  if (dropRole !== undefined && !isPlainRole(dropRole) && library.roles.every(({ id }) => id !== dropRole))
    throw new UsageError(
      `--drop-role: there is no role '${dropRole}'. Roles: ${library.roles.map(({ id }) => id).join(', ')}.`,
    )
  return { rewire, dropRole, corruptMessage, failWorker }
}

function probability(text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (text.trim() === '' || !(value > 0 && value <= 1))
    throw new InvalidArgumentError('Give a probability above 0 and up to 1, or a percentage up to 100%.')
  return value
}
