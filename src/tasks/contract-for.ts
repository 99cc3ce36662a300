import { type AnswerContract, contractKinds, describedContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import { type TaskSet, TaskSetError } from './task-set.ts'

/**
 * The answer contract for a user's question: the one the task set prescribes. The synthetic set decides by a field
 * that such a question lacks; then the answer is an option if there are options, code if there is a program, true or
 * false for a statement about a table, and otherwise a number.
 */
export function contractFor(set: TaskSet, task: Task): AnswerContract {
  try {
    return set.contractOf(task)
  } catch (error) {
    if (!(error instanceof TaskSetError)) throw error
    return likelyContract(task)
  }
}

/** Like `contractFor`, from a run's folder alone. */
export function contractOfRun(folder: RunFolder, record: RunRecord, task: Task): AnswerContract {
  const names = Object.keys(record.executors)
  const likely = likelyContract(task).name
  // Without options and programs, take the only contract that needs neither, if there is just one.
  const plain = names.filter((one) => one !== contractKinds.option.name && one !== contractKinds.code.name)
  const possible = names.includes(likely) ? [likely] : names.length === 1 ? names : plain
  const name = possible.length === 1 ? possible[0]! : likely
  const contracts = describedContracts(folder, record)
  const known = contracts.has(name)
    ? contracts.get(name)
    : Object.values(contractKinds).find((one) => one.name === name)
  if (known !== undefined) return known
  throw new TaskSetError(
    `The run's answers have the form '${name}', whose code is not in its folder. Name another with --contract, or give \`contract\` in code.`,
  )
}

function likelyContract(task: Task): AnswerContract {
  if (task.options !== undefined && task.options.length > 0) return contractKinds.option
  if (task.program !== undefined) return contractKinds.code
  const isClaim = (task.tables ?? []).length > 0 && !task.question.includes('?')
  return isClaim ? contractKinds.boolean : contractKinds.number
}

type DescribedContracts = ReadonlyMap<string, AnswerContract | undefined>

const described = new WeakMap<RunRecord, DescribedContracts>()

/** The contracts in a run's folder by name. Cached, because a server needs one for every question. */
function describedContracts(folder: RunFolder, record: RunRecord): DescribedContracts {
  let contracts = described.get(record)
  if (contracts === undefined) {
    const found = Object.entries(folder.readContracts() ?? {})
    contracts = new Map(found.map(([name, description]) => [name, describedContract(description)]))
    described.set(record, contracts)
  }
  return contracts
}
