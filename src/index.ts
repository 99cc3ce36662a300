// The public names, listed one by one: what is not here may change without notice.
export { AgentGraph, InvalidGraphError, type Unit } from './graph/agent-graph.ts'
export { type ExpandedGraph, type ExpandedNode, expand, expandedCounts } from './graph/expansion.ts'
export { graphKey } from './graph/graph-key.ts'
export {
  type Action,
  apply,
  assertLegalGraph,
  type ConstructionSpace,
  type GraphLimits,
  IllegalActionError,
  type LegalityMasks,
  legalityMasks,
  type Restriction,
  whyIllegal,
} from './graph/legality.ts'
export { dot } from './graph/render/dot.ts'
export { mermaid } from './graph/render/mermaid.ts'
export { type ExecutorLabel, expandedPicture, outerPicture, type Picture } from './graph/render/picture.ts'
export { drawGraph } from './graph/render/terminal.ts'
export { positionAligned } from './learning/advantages.ts'
export { NonFiniteUpdateError, PolicyLearner } from './learning/policy-update.ts'
export { selectProbes } from './learning/probes.ts'
export {
  type LossWeights,
  paperLossWeights,
  type RecordedGroup,
  type UpdateReport,
} from './learning/recorded-group.ts'
export { returnsToGo } from './learning/returns.ts'
export {
  InvalidRewardSettingsError,
  type RewardSettings,
  rewardSettings,
} from './learning/reward-settings.ts'
export { paperTemperature, temperatureAt } from './learning/temperature.ts'
export { creditTrajectory, type ScoredConstruction, type Trajectory } from './learning/trajectory.ts'
export { defineLibrary, EmptySelectionError, selectRoles } from './library/define-library.ts'
export { lexicalEncoder } from './library/encoder/lexical-encoder.ts'
export { libraryEmbeddings } from './library/encoder/library-embeddings.ts'
export { type TaskFields, taskEmbedding } from './library/encoder/task-embedding.ts'
export type { FrozenTextEncoder } from './library/encoder/text-encoder.ts'
export {
  type Executor,
  executorsOf,
  type Group,
  type GroupDefinition,
  type Library,
  type LibraryDefinition,
  type Role,
  type RoleDefinition,
} from './library/library.ts'
export { InvalidLibraryError } from './library/library-problem.ts'
export { paperLibrary } from './library/paper-library/paper-library.ts'
export {
  availableTools,
  type BenchmarkName,
  benchmarkProfiles,
  type DatasetProfile,
} from './library/profiles.ts'
export { prompt } from './library/prompt.ts'
export { type Realization, type RoleSpace, UnknownRoleError } from './library/role-space.ts'
export { type BuiltInTool, builtInTools, type ToolName } from './library/tool-name.ts'
export { LibraryFileError, loadLibrary, parseLibrary, toYaml } from './library/yaml-library.ts'
export { type AdamSettings, paperAdam } from './numerics/adam.ts'
export { PythonRandom } from './numerics/python-random.ts'
export { deriveRandom, type Random } from './numerics/random.ts'
export {
  type Checkpoint,
  CheckpointError,
  type CheckpointIdentity,
  CheckpointWriteError,
  readCheckpoint,
  writeCheckpoint,
} from './policy/checkpoint.ts'
export {
  type Construction,
  type ConstructionJob,
  type ConstructionStep,
  constructGraphs,
} from './policy/construction.ts'
export { ActionDistribution } from './policy/distribution.ts'
export type { PolicyDimensions } from './policy/parameter-shapes.ts'
export { ConstructionPolicy, type Inspection, type PolicyOptions } from './policy/policy.ts'
export type { RoleVectors } from './policy/semantics.ts'
