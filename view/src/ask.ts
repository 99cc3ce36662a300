import type { AskEvent } from '../../src/view/ask.ts'

/** Asks a run's policy and reports its progress until the answer arrives. */
export async function askPolicy(
  asked: { readonly run: string; readonly question: string },
  tell: (event: AskEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch('/api/ask', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(asked),
    signal,
  })
  if (!response.ok || response.body === null) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: string }
    throw new Error(error ?? `The server answered ${response.status}.`)
  }
  let rest = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const events = `${rest}${piece}`.split('\n\n')
    rest = events.pop()!
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
      if (data.length > 0) tell(JSON.parse(data.join('\n')) as AskEvent)
    }
  }
}
