import {
  type AnswerContract,
  booleanString,
  codeString,
  freeText,
  numericString,
  optionLabel,
  valuesAndScale,
} from '../../library/answer-contract.ts'

/** What `--contract` may say. */
export const contractKinds: Readonly<Record<string, AnswerContract>> = {
  text: freeText,
  option: optionLabel,
  boolean: booleanString,
  number: numericString,
  code: codeString,
  values: valuesAndScale,
}
