import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { resumeCommand } from '../src/cli/commands/resume.ts'
import { serveCommand } from '../src/cli/commands/serve.ts'
import { trainCommand } from '../src/cli/commands/train.ts'
import { workerCommand } from '../src/cli/commands/worker.ts'

const read = (name: string) => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8')
const commands = new Map(
  [trainCommand(), resumeCommand(), workerCommand(), serveCommand()].map((one) => [one.name(), one]),
)

/** Every command of a container, shell lines taken apart, as words after `magic`. */
function commandLines(words: readonly string[]): string[][] {
  const [only] = words
  if (words.length === 1 && only!.includes('magic '))
    return [...only!.matchAll(/magic ([^;]+);/g)].map(([, line]) => line!.trim().split(/\s+/))
  return [[...words]]
}

function assertCommand(words: readonly string[]): void {
  for (const [name, ...rest] of commandLines(words)) {
    const command = commands.get(name!)
    expect(command, `magic ${name}`).toBeDefined()
    const flags = command!.options.map(({ long }) => long)
    for (const flag of rest.filter((word) => word.startsWith('--'))) expect(flags).toContain(flag)
  }
}

test('compose starts commands that exist, and only who asks the model has its key', () => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true })
  expect(Object.keys(services)).toEqual(['postgres', 'trainer', 'worker', 'server'])
  for (const name of ['trainer', 'worker', 'server']) {
    const { command, environment, build, volumes: mounted = [] } = services[name]
    assertCommand(command)
    expect(environment.MAGIC_LEDGER).toMatch(/^postgres:\/\/magic:.*@postgres:5432\/magic$/)
    expect('DEEPSEEK_API_KEY' in environment).toBe(name !== 'trainer')
    expect(build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' })
    for (const mount of mounted) expect(Object.keys(volumes)).toContain(mount.split(':')[0])
  }
  expect(services.server.ports[0]).toMatch(/^127\.0\.0\.1:/)
})

test('Kubernetes: every document has what its kind needs, names fit together, and only who asks the model has its key', () => {
  const documents = parseAllDocuments(read('kubernetes/magic.yaml')).map((one) => {
    expect(one.errors).toEqual([])
    return one.toJS()
  })
  const named = (kind: string) =>
    documents.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name)
  const versions = {
    ConfigMap: 'v1',
    PersistentVolumeClaim: 'v1',
    Service: 'v1',
    Job: 'batch/v1',
    Deployment: 'apps/v1',
  }
  for (const { kind, apiVersion, metadata, spec } of documents) {
    expect(apiVersion).toBe(versions[kind as keyof typeof versions])
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    if (kind !== 'Job' && kind !== 'Deployment') continue
    const { labels } = spec.template.metadata
    if (kind === 'Deployment') expect(labels).toMatchObject(spec.selector.matchLabels)
    const { containers, volumes = [] } = spec.template.spec
    const claims = volumes.map(
      (one: { persistentVolumeClaim: { claimName: string } }) => one.persistentVolumeClaim.claimName,
    )
    for (const claim of claims) expect(named('PersistentVolumeClaim')).toContain(claim)
    for (const { args, envFrom, volumeMounts = [], image } of containers) {
      assertCommand(args)
      expect(image).toBe('magic')
      const secrets = envFrom.flatMap((one: { secretRef?: { name: string } }) => one.secretRef?.name ?? [])
      expect(secrets.includes('magic-model')).toBe(labels.part !== 'trainer')
      for (const { name } of volumeMounts)
        expect(volumes.map((one: { name: string }) => one.name)).toContain(name)
    }
  }
  const [service] = documents.filter((one) => one.kind === 'Service')
  const parts = documents.flatMap((one) => one.spec?.template?.metadata.labels ?? [])
  expect(parts).toContainEqual(service.spec.selector)
})

test('the image has what the package needs beside itself', () => {
  const { peerDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  for (const name of ['pg', 'graphile-worker'])
    expect(read('Dockerfile')).toContain(`${name}@${peerDependencies[name]}`)
})
