import { Command, type Option } from 'commander'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import { libraryEmbeddings } from '../../encoder/library-embeddings.ts'
import { taskEmbedding } from '../../encoder/query-embedding.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { Restriction } from '../../graph/legality.ts'
import { dot } from '../../graph/render/dot.ts'
import { mermaid } from '../../graph/render/mermaid.ts'
import { expandedPicture, outerPicture } from '../../graph/render/picture.ts'
import { selectRoles } from '../../library/define-library.ts'
import type { Library } from '../../library/library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import { loadLibrary } from '../../library/yaml-library.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { constructGraphs } from '../../policy/construction.ts'
import { ConstructionPolicy } from '../../policy/policy.ts'
import { settable } from '../../settings/run-settings.ts'
import { benchmarkProfiles } from '../../tasks/benchmarks/list.ts'
import { graphDrawing } from '../display/graph-drawing.ts'
import { wrapText } from '../display/screen.ts'
import { jsonOption, libraryOption, profileOption } from '../options/common-options.ts'
import { positiveNumber, wholeNumber } from '../options/option-values.ts'
import { settingOption } from '../options/setting-option.ts'
import { readStandardInput } from '../options/standard-input.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { describeStep, executorLabel, explainStep } from '../views/construction-view.ts'

interface GraphOptions {
  readonly seed: number
  readonly temperature: number
  readonly restriction: Restriction
  readonly profile?: keyof typeof benchmarkProfiles
  readonly library?: string
  readonly maxUnits: number
  readonly maxDepth: number
  readonly expanded: boolean
  readonly json: boolean
}

export function graphCommand(): Command {
  return new Command('graph')
    .description(
      'Build an agent graph for a question with an untrained policy and show why it looks that way.',
    )
    .argument('<question>', 'the question, or - to read it from standard input')
    .option('--seed <n>', 'seed of the policy and of the draws', wholeNumber(0), 7)
    .option('--temperature <t>', 'policy temperature', positiveNumber, 1)
    .addOption(policyOption('restriction'))
    .addOption(profileOption('roles of one benchmark'))
    .addOption(libraryOption())
    .addOption(policyOption('maxUnits'))
    .addOption(policyOption('maxDepth'))
    .option('--expanded', 'show groups as their workers and aggregators in the Mermaid text', false)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  magic graph --seed 7 "Which planet has the shortest day?"
  magic graph --profile gsm8k --restriction all-group "A train needs 3 hours for 240 km. How fast is it?"
  magic graph --json "Is the sky blue?" | jq .graph

The policy is untrained: the graph shows how it works, not a good organisation. Same seed, same graph.`,
    )
    .action(async (question: string, options: GraphOptions) => {
      const text = question === '-' ? await readStandardInput() : question
      if (text.trim() === '') throw new UsageError('The question is empty.')
      await showGraph(text, options)
    })
}

async function showGraph(question: string, options: GraphOptions): Promise<void> {
  const library = chooseLibrary(options)
  const encoder = lexicalEncoder
  const { seed, temperature, restriction, maxUnits, maxDepth } = options
  const policy = ConstructionPolicy.initialize(
    {
      dimensions: { semantic: encoder.dims, hidden: 256, maxUnits, maxDepth },
      roles: library.space,
      vectors: await libraryEmbeddings(library.texts, encoder),
    },
    seed,
  )
  const query = await taskEmbedding({ question }, encoder)
  const random = deriveRandom(seed, 'construction', question)
  const job = { query, random, restriction, temperature, dropout: false }
  const [construction] = constructGraphs(policy, [job])
  const steps = construction!.steps.map((step) => explainStep(policy, query, step, options))
  const { graph } = construction!
  const picture = options.expanded ? expandedPicture(graph, executorLabel(library)) : outerPicture(graph)
  const drawing = mermaid(picture)
  printResult(
    options,
    () => ({
      question,
      seed,
      temperature,
      restriction,
      encoder: encoder.name,
      library: library.fingerprint,
      policy: 'untrained',
      graph,
      key: graphKey(graph),
      steps,
      mermaid: drawing,
      dot: dot(picture),
    }),
    (screen) => {
      const heading = (text: string) => screen.paint('bold', wrapText(text, screen))
      const roles = library.roles.length
      return [
        heading(`Untrained policy, seed ${seed}, ${restriction}, ${roles} roles, ${encoder.name} encoder`),
        '',
        ...steps.flatMap((step, index) => describeStep(step, index, graph, screen)),
        heading(`Graph ${graphKey(graph).slice(0, 12)}`),
        '',
        graphDrawing(graph, screen),
        '',
        heading('Mermaid'),
        '',
        drawing.trimEnd(),
        '',
      ].join('\n')
    },
  )
}

function policyOption(name: 'restriction' | 'maxUnits' | 'maxDepth'): Option {
  const { default: usual, ...setting } = settable.get(name)!
  return settingOption(setting).default(usual)
}

function chooseLibrary({ library: file, profile }: GraphOptions): Library {
  const library = file === undefined ? paperLibrary : loadLibrary(file)
  return profile === undefined ? library : selectRoles(library, benchmarkProfiles[profile].roles)
}
