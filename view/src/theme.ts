import { useSyncExternalStore } from 'react'

/** `system` follows the operating system. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'magic-theme'
const listeners = new Set<() => void>()
const machine = window.matchMedia('(prefers-color-scheme: dark)')
machine.addEventListener('change', () => tell())

let chosen: Theme = stored()
apply()

function stored(): Theme {
  try {
    const value = window.localStorage.getItem(key)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    // Browsers can forbid storage.
    return 'system'
  }
}

function apply(): void {
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', chosen)
}

function tell(): void {
  for (const listener of listeners) listener()
}

export function setTheme(theme: Theme): void {
  chosen = theme
  try {
    window.localStorage.setItem(key, theme)
  } catch {}
  apply()
  tell()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useTheme(): { chosen: Theme; shown: 'light' | 'dark' } {
  const text = useSyncExternalStore(subscribe, () => `${chosen} ${machine.matches}`)
  const [theme, isDark] = text.split(' ') as [Theme, string]
  return { chosen: theme, shown: theme === 'system' ? (isDark === 'true' ? 'dark' : 'light') : theme }
}
