import type { Command, Option } from 'commander'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import { libraryEmbeddings } from '../../encoder/library-embeddings.ts'
import { taskEmbedding } from '../../encoder/query-embedding.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { Restriction } from '../../graph/legality.ts'
import { dot } from '../../graph/render/dot.ts'
import { mermaid } from '../../graph/render/mermaid.ts'
import { outerPicture } from '../../graph/render/picture.ts'
import { svg } from '../../graph/render/svg.ts'
import { selectRoles } from '../../library/define-library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import { loadLibrary } from '../../library/yaml-library.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { constructGraphs } from '../../policy/construction.ts'
import { explainSteps } from '../../policy/explained-steps.ts'
import { ConstructionPolicy } from '../../policy/policy.ts'
import { settable } from '../../settings/run-settings.ts'
import { writeWhole } from '../../store/durable-file.ts'
import { benchmarkProfiles } from '../../tasks/benchmarks/list.ts'
import { NotedCommand } from '../help-notes.ts'
import { jsonOption, libraryOption, profileOption } from '../options/common-options.ts'
import { readQuestion } from '../options/given-question.ts'
import { nonNegativeNumber, wholeNumber } from '../options/option-values.ts'
import { settingOption } from '../options/setting-option.ts'
import { printResult } from '../print.ts'
import { constructionLines } from '../views/construction-view.ts'

interface GraphOptions {
  readonly seed: number
  readonly temperature: number
  readonly gain: number
  readonly restriction: Restriction
  readonly profile?: keyof typeof benchmarkProfiles
  readonly library?: string
  readonly maxUnits: number
  readonly maxDepth: number
  readonly svg?: string
  readonly json: boolean
}

export function graphCommand(): Command {
  return new NotedCommand('graph')
    .description('Build an agent graph for a question with an untrained policy, and explain each choice.')
    .argument('<question>', 'the question, or - to read it from standard input')
    .option('--seed <n>', 'seed of the policy and of its sampling', wholeNumber(0), 7)
    .option(
      '--temperature <t>',
      'sampling temperature; 0 takes the most probable choices',
      nonNegativeNumber,
      1,
    )
    .addOption(policyOption('gain'))
    .addOption(policyOption('restriction'))
    .addOption(profileOption("use a benchmark's roles"))
    .addOption(libraryOption())
    .addOption(policyOption('maxUnits'))
    .addOption(policyOption('maxDepth'))
    .option('--svg <file>', 'also write the graph as SVG')
    .addOption(jsonOption())
    .notes({
      examples: [
        ['magic graph --seed 7 "Which planet has the shortest day?"'],
        [
          'magic graph --profile gsm8k --restriction all-group "How fast is a train that needs 3 h for 240 km?"',
        ],
        ['magic graph --json "Is the sky blue?" | jq .graph'],
      ],
      notes: [
        'The policy is untrained: this shows how construction works, not a good organisation. The same seed gives the same graph.',
      ],
    })
    .action(async (question: string, options: GraphOptions) =>
      showGraph(await readQuestion(question), options),
    )
}

function policyOption(name: 'restriction' | 'gain' | 'maxUnits' | 'maxDepth'): Option {
  const { default: usual, ...setting } = settable.get(name)!
  return settingOption(setting).default(usual)
}

async function showGraph(question: string, options: GraphOptions): Promise<void> {
  const { seed, temperature, gain, restriction, maxUnits, maxDepth, profile } = options
  const all = options.library === undefined ? paperLibrary : loadLibrary(options.library)
  const library = profile === undefined ? all : selectRoles(all, benchmarkProfiles[profile].roles)
  const encoder = lexicalEncoder
  const policy = ConstructionPolicy.initialize(
    {
      dimensions: { semantic: encoder.dims, hidden: 256, maxUnits, maxDepth },
      roles: library.space,
      vectors: await libraryEmbeddings(library.texts, encoder),
      gain,
    },
    seed,
  )
  const query = await taskEmbedding({ question }, encoder)
  const random = deriveRandom(seed, 'construction', question)
  const draws = temperature === 0 ? { temperature: 1 } : { temperature, random }
  const job = { query, ...draws, restriction, dropout: false }
  const [construction] = constructGraphs(policy, [job])
  const { graph } = construction!
  const steps = explainSteps(policy, { ...job, steps: construction!.steps })
  const picture = outerPicture(graph)
  const key = graphKey(graph)
  if (options.svg !== undefined) writeWhole(options.svg, svg(picture))
  printResult(
    options,
    {
      ...{ question, seed, temperature, gain, restriction },
      ...{ encoder: encoder.name, library: library.fingerprint, policy: 'untrained' },
      ...{ graph, key, steps, mermaid: mermaid(picture), dot: dot(picture) },
    },
    (screen) => {
      const heading = (text: string) => screen.paint('bold', text)
      const roles = library.roles.length
      return [
        heading(`Untrained policy, seed ${seed}, ${restriction}, ${roles} roles, ${encoder.name} encoder`),
        '',
        constructionLines(steps, graph, screen),
        '',
        heading(`Mermaid (graph ${key.slice(0, 12)})`),
        '',
        { verbatim: mermaid(picture) },
      ]
    },
  )
}
