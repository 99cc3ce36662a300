import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'

const root = fileURLToPath(new URL('..', import.meta.url))

interface TypesOutput {
  /** File for all declarations of the public names. */
  readonly declarations?: string | undefined
  /** File for the same as data, with comments, for the API reference. */
  readonly model?: string | undefined
}

export function buildTypes({ declarations, model }: TypesOutput): void {
  // Inside the project, so that packages can be resolved, but not in node_modules, where it would count as a dependency, and not
  // in dist/, which a concurrent build would empty.
  mkdirSync(join(root, 'build'), { recursive: true })
  const folder = mkdtempSync(join(root, 'build/declarations-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const options = ['-p', 'tsconfig.build.json', '--outDir', folder]
    execFileSync(process.execPath, [compiler, ...options], { cwd: root, stdio: 'inherit' })
    const entry = join(folder, 'index.d.ts')
    const silent = { default: { logLevel: ExtractorLogLevel.None } }
    const configuration = ExtractorConfig.prepare({
      configObject: {
        projectFolder: root,
        mainEntryPointFilePath: entry,
        newlineKind: 'lf',
        compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
        apiReport: { enabled: false },
        docModel: { enabled: model !== undefined, apiJsonFilePath: model },
        dtsRollup: { enabled: declarations !== undefined, untrimmedFilePath: declarations },
        tsdocMetadata: { enabled: false },
        messages: { extractorMessageReporting: silent, tsdocMessageReporting: silent },
      },
      configObjectFullPath: undefined,
      packageJsonFullPath: join(root, 'package.json'),
    })
    if (!Extractor.invoke(configuration, { localBuild: true }).succeeded)
      throw new Error('Cannot collect the declarations.')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The extractor has its own compiler, which may not understand our settings. */
const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'esnext.disposable'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  strict: true,
  skipLibCheck: true,
}
