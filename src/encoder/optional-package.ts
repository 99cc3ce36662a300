import { Problem } from '../problem.ts'

/** An optional package is not installed. */
export class MissingPackageError extends Problem {
  constructor(purpose: string, packages: readonly string[]) {
    super(`${purpose} needs ${packages.join(' or ')}, an optional package: npm install ${packages.at(-1)}`)
  }
}

/** The imported module, or undefined if the package is not installed. Other failures are thrown. */
export async function ifInstalled<Module>(load: () => Promise<Module>): Promise<Module | undefined> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
