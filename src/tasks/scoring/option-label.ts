/** The label of the option at an index: 0 is A, 1 is B, and so on. */
export function optionLabel(index: number): string {
  if (!Number.isInteger(index) || index < 0 || index > 25)
    throw new RangeError(`No letter labels option ${index}.`)
  return String.fromCharCode(65 + index)
}
