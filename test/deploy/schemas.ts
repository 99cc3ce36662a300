// The fields of compose and Kubernetes files that deploy/ uses, and no others: a misspelled one is an error
// here, where the tools would ignore it or fail on a user's machine.
import { z } from 'zod'

const { strictObject: object, string, array, record, literal, union } = z
const count = z.int().min(0)
const name = string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
const text = string().min(1)
const duration = string().regex(/^\d+(ms|s|m|h)$/)

const composeService = object({
  image: text,
  build: object({ context: text, dockerfile: text }).optional(),
  entrypoint: array(text).min(1).optional(),
  command: array(text).min(1),
  environment: record(string().regex(/^[A-Z_]+$/), string()),
  depends_on: record(name, object({ condition: literal('service_healthy') })).optional(),
  volumes: array(string().regex(/^[a-z]+:\/[a-z/]+$/)).optional(),
  ports: array(string().regex(/^127\.0\.0\.1:\d+:\d+$/)).optional(),
  healthcheck: object({
    test: array(text).min(2),
    interval: duration,
    timeout: duration,
    retries: count,
  }).optional(),
  stop_grace_period: duration.optional(),
  security_opt: array(string().regex(/^(seccomp|apparmor):unconfined$/)).optional(),
  cap_drop: array(literal('ALL')).optional(),
  restart: string()
    .regex(/^(unless-stopped|on-failure:\d+)$/)
    .optional(),
  deploy: object({ replicas: count }).optional(),
})

export const composeFile = object({
  name,
  'x-magic': z.unknown(),
  'x-sandbox': z.unknown(),
  services: record(name, composeService),
  volumes: record(name, z.null()),
})

const metadata = object({ name })
const labels = record(name, name)
const quantity = string().regex(/^\d+(m|Mi|Gi)?$/)
const probe = object({ httpGet: object({ path: string().startsWith('/'), port: union([name, count]) }) })

const container = object({
  name,
  image: text,
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
  command: array(text).min(1).optional(),
  args: array(text).min(1),
  envFrom: array(
    union([
      object({ configMapRef: object({ name }) }),
      object({ secretRef: object({ name, optional: z.boolean().optional() }) }),
    ]),
  ),
  ports: array(object({ name, containerPort: count })).optional(),
  securityContext: object({
    allowPrivilegeEscalation: literal(false),
    capabilities: object({ drop: array(literal('ALL')).length(1) }),
    seccompProfile: object({ type: z.enum(['Unconfined', 'RuntimeDefault']) }),
  }),
  resources: object({ requests: object({ cpu: quantity, memory: quantity }) }),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  volumeMounts: array(object({ name, mountPath: string().startsWith('/') })).optional(),
})

const podTemplate = object({
  metadata: object({ labels }),
  spec: object({
    restartPolicy: z.enum(['OnFailure', 'Never']).optional(),
    terminationGracePeriodSeconds: count.optional(),
    automountServiceAccountToken: literal(false),
    securityContext: object({
      runAsUser: count.min(1),
      runAsGroup: count.min(1),
      fsGroup: count.min(1),
      runAsNonRoot: literal(true),
    }),
    containers: array(container).min(1),
    volumes: array(object({ name, persistentVolumeClaim: object({ claimName: name }) })).optional(),
  }),
})

export const kubernetesDocument = z.discriminatedUnion('kind', [
  object({
    apiVersion: literal('v1'),
    kind: literal('ConfigMap'),
    metadata,
    data: record(string().regex(/^[A-Z_]+$/), string()),
  }),
  object({
    apiVersion: literal('v1'),
    kind: literal('PersistentVolumeClaim'),
    metadata,
    spec: object({
      accessModes: array(z.enum(['ReadWriteOnce', 'ReadWriteMany'])).min(1),
      resources: object({ requests: object({ storage: quantity }) }),
    }),
  }),
  object({
    apiVersion: literal('batch/v1'),
    kind: literal('Job'),
    metadata,
    spec: object({ backoffLimit: count, template: podTemplate }),
  }),
  object({
    apiVersion: literal('apps/v1'),
    kind: literal('Deployment'),
    metadata,
    spec: object({ replicas: count, selector: object({ matchLabels: labels }), template: podTemplate }),
  }),
  object({
    apiVersion: literal('v1'),
    kind: literal('Service'),
    metadata,
    spec: object({
      selector: labels,
      ports: array(object({ name, port: count, targetPort: union([name, count]) })).min(1),
    }),
  }),
])
