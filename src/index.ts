// The public names, listed one by one: what is not here may change without notice.

export { type ChosenEncoder, chooseEncoder, type EncoderOptions } from './encoder/choose-encoder.ts'
export { lexicalEncoder } from './encoder/lexical-encoder.ts'
export { libraryEmbeddings } from './encoder/library-embeddings.ts'
export { type TaskFields, taskEmbedding } from './encoder/task-embedding.ts'
export type { FrozenTextEncoder } from './encoder/text-encoder.ts'
export type { ExecutionEvent } from './execution/events.ts'
export { executeGraph } from './execution/execute-graph.ts'
export type { Execution, ExecutionOptions } from './execution/execution.ts'
export { executorFingerprint } from './execution/executor-fingerprint.ts'
export { fromLanguageModel } from './execution/models/ai-sdk.ts'
export { CallLimit, processCallLimit } from './execution/models/call-limit.ts'
export {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type Decoding,
  paperDecoding,
} from './execution/models/chat-model.ts'
export { type ModelSettings, openModel } from './execution/models/open-model.ts'
export { type Price, type PriceTable, publishedPrices } from './execution/models/prices.ts'
export { RecordingModel } from './execution/models/recording.ts'
export { ReplayModel } from './execution/models/replay.ts'
export { callModel } from './execution/models/retry.ts'
export type { Usage } from './execution/models/usage.ts'
export type { RequestCache } from './execution/request-cache.ts'
export { openProgramSandbox, type ProgramSandbox } from './execution/sandbox/program-sandbox.ts'
export { SandboxUnavailable } from './execution/sandbox/unavailable.ts'
export { type ExecutionSettings, executionSettings } from './execution/settings.ts'
export { openToolbox, type Toolbox } from './execution/toolbox.ts'
export type { Tool } from './execution/tools/tool.ts'
export { type Trace, tracedRequest } from './execution/trace.ts'
export { AgentGraph, InvalidGraphError, type Unit } from './graph/agent-graph.ts'
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
export { drawGraph } from './graph/render/terminal.ts'
export { positionAligned } from './learning/advantages.ts'
export {
  type LossWeights,
  paperLossWeights,
  type RecordedGroup,
  type UpdateReport,
} from './learning/loss.ts'
export { NonFiniteUpdateError, PolicyLearner } from './learning/policy-learner.ts'
export { selectProbes } from './learning/probes.ts'
export { returnsToGo } from './learning/returns.ts'
export {
  InvalidRewardSettingsError,
  type RewardSettings,
  rewardSettings,
} from './learning/reward-settings.ts'
export type { GraphScore, ScoreGraph } from './learning/score-construction.ts'
export { paperTemperature, temperatureAt } from './learning/temperature.ts'
export { type FinishedUpdate, type TrainPolicyOptions, trainPolicy } from './learning/train-policy.ts'
export { creditTrajectory, type ScoredConstruction, type Trajectory } from './learning/trajectory.ts'
export { type TrainedUpdate, updateOnQuery } from './learning/update.ts'
export { evaluateOnce } from './ledger/evaluate-once.ts'
export type { EvaluationLedger } from './ledger/evaluation-ledger.ts'
export { LedgerRequestCache } from './ledger/ledger-request-cache.ts'
export { MemoryLedger } from './ledger/memory.ts'
export { RunLock, RunLockedError } from './ledger/run-lock.ts'
export { SqliteLedger } from './ledger/sqlite.ts'
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
export { defineLibrary, EmptySelectionError, selectRoles } from './library/define-library.ts'
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
export type { Task } from './library/task.ts'
export { type BuiltInTool, builtInTools, type ToolName } from './library/tool-name.ts'
export { LibraryFileError, loadLibrary, parseLibrary, toYaml } from './library/yaml-library.ts'
export { type AdamSettings, paperAdam } from './numerics/adam.ts'
export { type Arithmetic, arithmetic } from './numerics/kernels/kernels.ts'
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
export { entropy, klDivergence } from './policy/kl-and-entropy.ts'
export type { PolicyDimensions } from './policy/parameter-shapes.ts'
export { ConstructionPolicy, type Inspection, type PolicyOptions } from './policy/policy.ts'
export type { RoleVectors } from './policy/semantics.ts'
export { PythonRandom } from './python/random.ts'
export { type BudgetSettings, budgetSettings } from './runs/budget-settings.ts'
export { compareOrganisations } from './runs/compare-organisations.ts'
export { type Configuration, defineConfig, loadConfiguration } from './runs/configuration.ts'
export { ConfigurationError } from './runs/configuration-error.ts'
export type { MagicConfiguration } from './runs/configuration-schema.ts'
export { type Estimate, estimate } from './runs/estimate.ts'
export { type EvaluatedOrganisation, type EvaluateOptions, evaluate } from './runs/evaluate.ts'
export { ModelRefusedError } from './runs/model-refused.ts'
export { ModelUnreachableError } from './runs/model-unreachable.ts'
export {
  chainOrganisation,
  directOrganisation,
  type Organisation,
  parallelOrganisation,
  randomOrganisation,
} from './runs/organisation.ts'
export type { OrganisationReport, QuestionRecord } from './runs/organisation-report.ts'
export { policyOrganisation } from './runs/policy-organisation.ts'
export { findRun, RunError, RunFolder, type RunRecord } from './runs/run-folder.ts'
export { type Solved, type SolveOptions, solve } from './runs/solve.ts'
export { pairedBootstrap } from './runs/statistics.ts'
export { type TrainingEvent, type TrainingResult, type TrainOptions, train } from './runs/train.ts'
export { type LoadOptions, loadPolicy, type TrainedPolicy } from './runs/trained-policy.ts'
export { type GivenTrainingSettings, presets, trainingSettings } from './runs/training-settings.ts'
export type { UpdateRecord } from './runs/update-record.ts'
export { type Verification, verify } from './runs/verify.ts'
export { type KnownTask, knownTasks } from './simulator/model/known-task.ts'
export { SimulatedModel } from './simulator/model/simulated-model.ts'
export { type SyntheticOptions, syntheticTaskSet } from './simulator/questions/synthetic-task-set.ts'
export { openSimulated } from './simulator/server/open-simulated.ts'
export { SimulatedServer } from './simulator/server/server.ts'
export { type BenchmarkName, benchmarkContracts, benchmarkProfiles } from './tasks/benchmarks/list.ts'
export { membership } from './tasks/membership.ts'
export { type DefinedTasks, defineTasks, type TaskDefinition } from './tasks/own/define-tasks.ts'
export type { GivenScorer, ScoreFunction } from './tasks/own/own-scorer.ts'
export { type OwnTaskSet, ownTaskSet } from './tasks/own/own-task-set.ts'
export type { GivenQuestion } from './tasks/own/question.ts'
export type { Score } from './tasks/scoring/scorer.ts'
export { type BenchmarkOptions, benchmarkTaskSet } from './tasks/studies/benchmark-task-set.ts'
export { type TaskScorer, type TaskSet, TaskSetError, type TaskSplit } from './tasks/task-set.ts'
