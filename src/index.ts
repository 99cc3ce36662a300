// The public names, listed one by one: what is not here may change without notice.

export { type Configuration, defineConfig, loadConfiguration } from './configuration/configuration.ts'
export { ConfigurationError } from './configuration/configuration-error.ts'
export type { MagicConfiguration } from './configuration/configuration-schema.ts'
export { type ChosenEncoder, chooseEncoder, type EncoderOptions } from './encoder/choose-encoder.ts'
export { lexicalEncoder } from './encoder/lexical-encoder.ts'
export { libraryEmbeddings } from './encoder/library-embeddings.ts'
export { type TaskFields, taskEmbedding } from './encoder/query-embedding.ts'
export type { FrozenTextEncoder } from './encoder/text-encoder.ts'
export {
  chainOrganisation,
  directOrganisation,
  fixedOrganisation,
  parallelOrganisation,
  randomOrganisation,
  shuffledOrganisation,
} from './evaluation/baseline-organisations.ts'
export { compareOrganisations } from './evaluation/compare-organisations.ts'
export { type EvaluatedOrganisation, type EvaluateOptions, evaluate } from './evaluation/evaluate.ts'
export { disturbed, type Interventions } from './evaluation/interventions.ts'
export type { OrganisationReport, QuestionRecord } from './evaluation/organisation-report.ts'
export { type QuestionDetail, questionDetails } from './evaluation/question-detail.ts'
export {
  type GraphSearch,
  type SearchOptions,
  type SearchOutcome,
  searchedOrganisation,
  searchGraph,
} from './evaluation/search-graph.ts'
export { type Solved, type SolveOptions, solve } from './evaluation/solve.ts'
export { pairedBootstrap } from './evaluation/statistics.ts'
export { type LoadOptions, loadPolicy, type TrainedPolicy } from './evaluation/trained-policy.ts'
export type { Verification } from './evaluation/verification/verification.ts'
export { verify } from './evaluation/verification/verify.ts'
export type { AgentOrder, Consulted, ConsultOrder, Drive, DriveContext, Said } from './execution/drive.ts'
export { executeDrive } from './execution/execute-drive.ts'
export { executeGraph } from './execution/execute-graph.ts'
export type { Execution, ExecutionOptions } from './execution/execution.ts'
export { executorFingerprint } from './execution/executor-fingerprint.ts'
export { type Memory, MemoryShelf, Once, type Shelf } from './execution/once.ts'
export { openToolbox, type Toolbox } from './execution/toolbox.ts'
export type { Tool } from './execution/tools/tool.ts'
export type { ExecutionEvent } from './execution/trace/events.ts'
export { type Trace, tracedRequest } from './execution/trace/trace.ts'
export { AgentGraph, type Finalizer, InvalidGraphError, type Unit } from './graph/agent-graph.ts'
export { canonicalOrder } from './graph/canonical-order.ts'
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
export { svg } from './graph/render/svg.ts'
export { drawGraph } from './graph/render/terminal.ts'
export { positionAligned } from './learning/advantages.ts'
export { NonFiniteError } from './learning/finite.ts'
export type { LossWeights, RecordedGroup, UpdateReport } from './learning/loss.ts'
export { PolicyLearner } from './learning/policy-learner.ts'
export { returnsToGo } from './learning/returns.ts'
export { creditTrajectory, type ScoredConstruction, type Trajectory } from './learning/trajectory.ts'
export {
  type AnswerContract,
  booleanString,
  codeString,
  freeText,
  numericString,
  optionLabel,
  schemaContract,
  valuesAndScale,
} from './library/answer-contract.ts'
export { defineLibrary, selectRoles } from './library/define-library.ts'
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
export { availableTools, type DatasetProfile } from './library/profiles.ts'
export { prompt } from './library/prompt.ts'
export { type Realization, type RoleSpace, UnknownRoleError } from './library/role-space.ts'
export type { Score } from './library/score.ts'
export type { Task } from './library/task.ts'
export { type BuiltInTool, builtInTools, type ToolName } from './library/tool-name.ts'
export { loadLibrary, parseLibrary, toYaml } from './library/yaml-library.ts'
export { fromLanguageModel } from './models/ai-sdk.ts'
export { CallLimit, processCallLimit } from './models/call-limit.ts'
export {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type Decoding,
  paperDecoding,
} from './models/chat-model.ts'
export { type ModelSettings, openModel } from './models/open-model.ts'
export { type Price, type PriceTable, publishedPrices } from './models/prices.ts'
export { RecordingModel, ReplayModel } from './models/recording.ts'
export { callModel } from './models/retry.ts'
export { ModelRefusedError, ModelUnreachableError } from './models/stop-error.ts'
export type { Usage } from './models/usage.ts'
export { type AdamSettings, paperAdam } from './numerics/adam.ts'
export { type Arithmetic, arithmetic } from './numerics/kernels/kernels.ts'
export { deriveRandom, type Random } from './numerics/random.ts'
export { learnerSource } from './organisations/learned/learner-source.ts'
export { type NamedOrganisation, openOrganisation } from './organisations/open-organisation.ts'
export {
  type Driver,
  defineOrganisation,
  type Fidelity,
  type LearnerMeans,
  type Organisation,
  type OrganisationDefinition,
  type OrganisationMeans,
  type Organiser,
} from './organisations/organisation.ts'
export {
  type Construction,
  type ConstructionJob,
  type ConstructionStep,
  constructGraphs,
} from './policy/construction.ts'
export { ActionDistribution } from './policy/distribution.ts'
export { entropy, klDivergence } from './policy/kl-and-entropy.ts'
export type { PolicyDimensions } from './policy/parameter-shapes.ts'
export { ConstructionPolicy, type Inspection, type PolicyOptions } from './policy/policy.ts'
export type { RoleVectors } from './policy/semantics.ts'
export { Problem } from './problem.ts'
export { PythonRandom } from './python/random.ts'
export { openProgramSandbox, type ProgramSandbox } from './sandbox/program-sandbox.ts'
export { SandboxUnavailable } from './sandbox/unavailable.ts'
export { type OrganisedModel, type OrganisedModelOptions, organisedModel } from './serve/organised-model.ts'
export { type BudgetSettings, budgetSettings } from './settings/budget.ts'
export { type ExecutionSettings, executionSettings } from './settings/execution.ts'
export { type RewardSettings, rewardSettings } from './settings/rewards.ts'
export {
  type GivenTrainingSettings,
  trainingPresets as presets,
  trainingSettings,
} from './settings/training.ts'
export { type KnownTask, knownTasks } from './simulator/model/known-task.ts'
export { SimulatedModel } from './simulator/model/simulator.ts'
export { type SyntheticOptions, syntheticTaskSet } from './simulator/questions/synthetic-task-set.ts'
export { openSimulated } from './simulator/server/open-simulated.ts'
export { SimulatedServer } from './simulator/server/server.ts'
export {
  type Checkpoint,
  CheckpointError,
  type CheckpointIdentity,
  CheckpointWriteError,
  readCheckpoint,
  writeCheckpoint,
} from './store/checkpoint.ts'
export { type ExportedRun, type ExportOptions, exportRun } from './store/exported-run.ts'
export type { Ledger } from './store/ledger/ledger.ts'
export { memoryIn } from './store/ledger/ledger-memory.ts'
export { SqliteLedger } from './store/ledger/sqlite.ts'
export { findRun, RunError, RunFolder, type RunRecord } from './store/run-folder.ts'
export { RunLock, RunLockedError } from './store/run-lock.ts'
export { type BenchmarkName, benchmarkContracts, benchmarkProfiles } from './tasks/benchmarks/list.ts'
export { type DefinedTasks, defineTasks, type TaskDefinition } from './tasks/own/define-tasks.ts'
export type { JudgeScorer } from './tasks/own/judge-scorer.ts'
export type { ScorerName } from './tasks/own/named-scorer.ts'
export type { GivenScorer, ScoreFunction } from './tasks/own/own-scorer.ts'
export { type OwnTaskSet, ownTaskSet } from './tasks/own/own-task-set.ts'
export type { GivenQuestion } from './tasks/own/question.ts'
export { type BenchmarkOptions, benchmarkTaskSet } from './tasks/studies/benchmark-task-set.ts'
export { membership, type TaskScorer, type TaskSet, TaskSetError, type TaskSplit } from './tasks/task-set.ts'
export { type Estimate, estimate } from './training/estimate.ts'
export { train } from './training/train.ts'
export type { TrainingEvent, TrainingResult, TrainOptions } from './training/train-options.ts'
export type { UpdateRecord } from './training/update-record.ts'
