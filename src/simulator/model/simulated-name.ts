/** The name under which the simulated model answers. */
export const simulatedModelName = 'simulated'

/** As `provider/model`. One behind a server, or in a recording, is simulated too. */
export function isSimulatedModel(name: string): boolean {
  return name.startsWith('simulated/') || name.endsWith(`/${simulatedModelName}`)
}
