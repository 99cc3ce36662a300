/** The simulated model's name. */
export const simulatedModelName = 'simulated'

/** `name` is `provider/model`. A simulated model behind a server or in a recording counts too. */
export function isSimulatedModel(name: string): boolean {
  return name.startsWith('simulated/') || name.endsWith(`/${simulatedModelName}`)
}
