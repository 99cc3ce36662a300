/** A package that only some people need is not installed. */
export class MissingPackageError extends Error {
  override name = 'MissingPackageError'
  constructor(purpose: string, packages: readonly string[]) {
    super(`${purpose} needs ${packages.join(' or ')}, an optional package: npm install ${packages.at(-1)}`)
  }
}

/** What the import gives, or undefined where the package is not installed. Other failures stay failures. */
export async function ifInstalled<Module>(load: () => Promise<Module>): Promise<Module | undefined> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
