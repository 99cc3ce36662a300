import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hubCacheFolder } from './hub.ts'

const all = { HF_HUB_CACHE: '/cache', HF_HOME: '/home', XDG_CACHE_HOME: '/xdg' }

test.each([
  [all, '/cache'],
  [{ ...all, HF_HUB_CACHE: '' }, '/home/hub'],
  [{ XDG_CACHE_HOME: '/xdg' }, '/xdg/huggingface/hub'],
  [{}, join(homedir(), '.cache/huggingface/hub')],
  [{ HF_HOME: '~/models' }, join(homedir(), 'models/hub')],
])('%o: %s', (environment, folder) => {
  expect(hubCacheFolder(environment)).toBe(folder)
})
