import { setFlagsFromString } from 'node:v8'

/**
 * Lets the heap grow to four times its live size before it is searched as a whole. By default V8 would do so every
 * two seconds under load, because a server keeps little for long. That takes a core for 40 ms, and answers wait.
 */
export function collectRarely(): void {
  setFlagsFromString('--heap-growing-percent=300')
}
