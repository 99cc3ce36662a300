import { homedir } from 'node:os'
import { join } from 'node:path'

/** The cache shared with Python's huggingface_hub. */
export function hubCacheFolder({ HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  const cache = HF_HUB_CACHE || join(HF_HOME || join(XDG_CACHE_HOME || '~/.cache', 'huggingface'), 'hub')
  return cache.replace(/^~(?=\/|$)/, () => homedir())
}

/** The folder of a repository in that cache. Files are in `blobs`; `snapshots/<commit>/` names them. */
export function hubRepositoryFolder(
  kind: 'models' | 'datasets',
  repository: string,
  environment: NodeJS.ProcessEnv,
): string {
  return join(hubCacheFolder(environment), `${kind}--${repository.replace('/', '--')}`)
}

/** The hub, or the mirror named by `HF_ENDPOINT`. */
export function hubEndpoint({ HF_ENDPOINT }: NodeJS.ProcessEnv): string {
  return (HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '')
}

export function hubToken({ HF_TOKEN }: NodeJS.ProcessEnv): string | undefined {
  return HF_TOKEN?.trim() || undefined
}

/** Interpreted as huggingface_hub does. */
export function isOffline({ HF_HUB_OFFLINE }: NodeJS.ProcessEnv): boolean {
  return /^(1|true|yes|on)$/i.test(HF_HUB_OFFLINE ?? '')
}
