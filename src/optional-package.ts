import { Problem } from './problem.ts'

/** An optional package is not installed. */
export class MissingPackageError extends Problem {}

/** The imported module; throws a `MissingPackageError` if none of these packages is installed. `what` needs it. */
export async function requirePackage<Module>(
  what: string,
  packages: readonly string[],
  load: () => Promise<Module>,
): Promise<Module> {
  return load().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new MissingPackageError(
      `${what} needs ${packages.join(' or ')}, an optional package: npm install ${packages.at(-1)}`,
    )
  })
}
