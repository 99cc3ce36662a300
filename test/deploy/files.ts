import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import type { z } from 'zod'
import { composeFile, kubernetesDocument } from './schemas.ts'

export function readDeployed(name: string): string {
  return readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')
}

export function readCompose(): z.output<typeof composeFile> {
  return composeFile.parse(
    parse(readDeployed('compose.yaml'), { merge: true, strict: true, uniqueKeys: true }),
  )
}

export function readKubernetes(): z.output<typeof kubernetesDocument>[] {
  return parseAllDocuments(readDeployed('kubernetes/magic.yaml'), { strict: true }).map((document) => {
    for (const problem of [...document.errors, ...document.warnings]) throw problem
    return kubernetesDocument.parse(document.toJS())
  })
}
