import { homedir } from 'node:os'
import { join } from 'node:path'

/** The cache that Python's huggingface_hub uses as well. */
export function hubCacheFolder({ HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  if (HF_HUB_CACHE) return withHome(HF_HUB_CACHE)
  if (HF_HOME) return join(withHome(HF_HOME), 'hub')
  return join(XDG_CACHE_HOME ? withHome(XDG_CACHE_HOME) : join(homedir(), '.cache'), 'huggingface', 'hub')
}

/** The folder of one repository in that cache. Files lie in `blobs`; `snapshots/<commit>/` names them. */
export function hubRepositoryFolder(
  kind: 'models' | 'datasets',
  repository: string,
  environment: NodeJS.ProcessEnv,
): string {
  return join(hubCacheFolder(environment), `${kind}--${repository.replace('/', '--')}`)
}

/** The hub, or the mirror that `HF_ENDPOINT` names. */
export function hubEndpoint({ HF_ENDPOINT }: NodeJS.ProcessEnv): string {
  return (HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '')
}

export function hubToken({ HF_TOKEN }: NodeJS.ProcessEnv): string | undefined {
  return HF_TOKEN?.trim() || undefined
}

/** Read as huggingface_hub reads it. */
export function isOffline({ HF_HUB_OFFLINE }: NodeJS.ProcessEnv): boolean {
  return /^(1|true|yes|on)$/i.test(HF_HUB_OFFLINE ?? '')
}

function withHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}
