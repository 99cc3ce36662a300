import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { resumeCommand } from '../../src/cli/commands/resume.ts'
import { serveCommand } from '../../src/cli/commands/serve.ts'
import { trainCommand } from '../../src/cli/commands/train.ts'
import { workerCommand } from '../../src/cli/commands/worker.ts'
import { readCompose, readDeployed, readKubernetes } from './files.ts'
import { composeFile, kubernetesDocument } from './schemas.ts'

const commands = new Map(
  [trainCommand(), resumeCommand(), workerCommand(), serveCommand()].map((one) => [one.name(), one]),
)

/** Every command of a container, with shell lines split up, as words after `magic`. */
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

test('compose: all fields are known, commands exist, and only services that call the model have its key', () => {
  const { services, volumes } = readCompose()
  expect(Object.keys(services)).toEqual(['postgres', 'trainer', 'worker', 'server'])
  for (const { volumes: mounted = [] } of Object.values(services))
    for (const mount of mounted) expect(Object.keys(volumes)).toContain(mount.split(':')[0])
  for (const name of ['trainer', 'worker', 'server']) {
    const { command, environment, build, depends_on: needs, cap_drop: dropped } = services[name]!
    assertCommand(command)
    expect(dropped).toEqual(['ALL'])
    expect('MAGIC_TOKEN' in environment).toBe(name === 'server')
    expect(environment['MAGIC_LEDGER']).toMatch(/^postgres:\/\/magic:.*@postgres:5432\/magic$/)
    expect('DEEPSEEK_API_KEY' in environment).toBe(name !== 'trainer')
    expect(build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' })
    expect(needs).toEqual({ postgres: { condition: 'service_healthy' } })
  }
  // No secret has a default, and whatever may fail is started again.
  const secrets = readDeployed('compose.yaml').match(/\$\{(?:POSTGRES_PASSWORD|MAGIC_TOKEN).*?\}/g)!
  for (const secret of secrets) expect(secret).toContain(':?')
  for (const { restart } of Object.values(services)) expect(restart).toBeDefined()
  const misspelled = parse(readDeployed('compose.yaml').replace('stop_grace_period', 'stop_grace_perid'), {
    merge: true,
  })
  expect(composeFile.safeParse(misspelled).error?.message).toContain('stop_grace_perid')
})

test('Kubernetes: all fields are known, names match, and only containers that call the model have its key', () => {
  const documents = readKubernetes()
  const named = (kind: string) =>
    documents.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name)
  const pods = documents.flatMap((one) => (one.kind === 'Job' || one.kind === 'Deployment' ? [one] : []))
  for (const { kind, spec } of pods) {
    const { labels } = spec.template.metadata
    if (kind === 'Deployment') expect(labels).toMatchObject(spec.selector.matchLabels)
    const { containers, volumes = [] } = spec.template.spec
    for (const { persistentVolumeClaim: claim } of volumes)
      expect(named('PersistentVolumeClaim')).toContain(claim.claimName)
    for (const { args, envFrom, volumeMounts = [], image } of containers) {
      assertCommand(args)
      expect(image).toBe('magic')
      const secrets = envFrom.flatMap((one) => ('secretRef' in one ? [one.secretRef.name] : []))
      expect(secrets.includes('magic-model')).toBe(labels['part'] !== 'trainer')
      expect(secrets.includes('magic-server')).toBe(labels['part'] === 'server')
      for (const one of envFrom)
        if ('configMapRef' in one) expect(named('ConfigMap')).toContain(one.configMapRef.name)
      for (const { name } of volumeMounts) expect(volumes.map((one) => one.name)).toContain(name)
    }
  }
  const [service] = documents.flatMap((one) => (one.kind === 'Service' ? [one] : []))
  const [served] = pods.filter(({ spec }) => spec.template.metadata.labels['part'] === 'server')
  expect(served!.spec.template.metadata.labels).toEqual(service!.spec.selector)
  const { ports, readinessProbe } = served!.spec.template.spec.containers[0]!
  expect(ports!.map(({ name }) => name)).toEqual([service!.spec.ports[0]!.targetPort])
  expect(readinessProbe!.httpGet.port).toBe(ports![0]!.name)
  expect(kubernetesDocument.safeParse({ ...service, spec: { ...service!.spec, port: 1 } }).success).toBe(
    false,
  )
})

test('both start the same commands, except for the server name', () => {
  const { services } = readCompose()
  const args = Object.fromEntries(
    readKubernetes().flatMap((one) => {
      if (one.kind !== 'Job' && one.kind !== 'Deployment') return []
      const { metadata, spec } = one.spec.template
      const [{ command = [], args }] = spec.containers as [(typeof spec.containers)[number]]
      return [[metadata.labels['part']!, [...command, ...args]]]
    }),
  )
  for (const part of ['trainer', 'worker', 'server']) {
    const { entrypoint = [], command } = services[part]!
    const same = [...entrypoint, ...command].map((word) => (word === 'server' ? 'magic' : word))
    expect(args[part]).toEqual(same)
  }
})

test('the image has what the package needs and does not run as root', () => {
  const { peerDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const lines = readDeployed('Dockerfile').split('\n')
  for (const name of ['pg', 'graphile-worker'])
    expect(lines.join('\n')).toContain(`${name}@${peerDependencies[name]}`)
  const instructions = lines.flatMap((line) => /^[A-Z]+/.exec(line)?.[0] ?? [])
  const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'USER', 'ENTRYPOINT', 'CMD']
  for (const instruction of instructions) expect(known).toContain(instruction)
  expect(instructions.slice(-3)).toEqual(['USER', 'ENTRYPOINT', 'CMD'])
  // A volume gets the owner of the folder it replaces in the image.
  for (const { volumes = [] } of Object.values(readCompose().services))
    for (const mount of volumes.filter((one) => one.startsWith('runs:')))
      expect(lines.join('\n')).toContain(`mkdir ${mount.split(':')[1]} && chown -R node:node /data`)
})
