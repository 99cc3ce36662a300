import type { JsonValue } from '../../library/json-value.ts'
import type { ProgramTest } from '../../library/task.ts'
import type { ExpectedNumber } from '../scoring/number.ts'
import type {
  BooleanReference,
  ChoiceReference,
  HumanevalReference,
  LivecodebenchReference,
} from '../scoring/reference.ts'
import type { ExpectedText } from '../scoring/text.ts'

/** What a user's own question is scored against, by its kind. */
export type OwnReference = ComparedReference | HumanevalReference | LivecodebenchReference | GivenReference

/** Compared with the answer itself. */
export type ComparedReference = ChoiceReference | BooleanReference | NumberReference | TextReference

export interface NumberReference extends ExpectedNumber {
  readonly kind: 'number'
}

export interface TextReference extends ExpectedText {
  readonly kind: 'text'
}

/** For a user's own scorer: the hidden part of the question as it was given. */
export interface GivenReference {
  readonly kind: 'given'
  /** `null` where the question has tests alone. */
  readonly answer: JsonValue
  readonly question: string
  readonly metadata: Readonly<Record<string, string>>
  readonly tests?: readonly ProgramTest[]
  readonly test?: string
}
