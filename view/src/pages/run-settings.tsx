import { type ReactNode, useState } from 'react'
import { tokens } from '../../../src/cli/display/numbers.ts'
import type { RunDetail } from '../../../src/view/run-detail.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import { Card } from '../parts/shown.tsx'

export function RunSettings({ name, run }: { readonly name: string; readonly run: RunDetail }): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const { about, settings, files } = run
  const differing = settings.filter(({ differs }) => differs)
  const rows = isWhole ? settings : differing
  return (
    <>
      <Card title="About">
        <dl className="facts">
          <dt>Folder</dt>
          <dd>
            <code>{about.folder}</code>
          </dd>
          <dt>Started</dt>
          <dd>{`${about.createdAt.replace('T', ' ').slice(0, 16)} UTC, version ${about.version}`}</dd>
          <dt>Text encoder</dt>
          <dd>{about.encoder.name}</dd>
          <dt>Roles</dt>
          <dd>{about.profile.roles.join(', ')}</dd>
          <dt>Tools</dt>
          <dd>{about.profile.tools.join(', ') || 'none'}</dd>
          <dt>Concurrent calls</dt>
          <dd>{about.concurrency}</dd>
        </dl>
      </Card>
      <Card
        title="Settings"
        note={differing.length === 0 ? 'all as in the paper' : `${differing.length} differ from the paper`}
      >
        <p>
          <button type="button" className="button" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Only those that differ' : `All ${settings.length}`}
          </button>
        </p>
        <PlainTable
          rows={rows}
          idOf={(setting) => setting.name}
          columns={[
            ['Setting', (setting) => <code>{setting.name}</code>],
            ['Value', ({ value }) => shown(value), 'number'],
            ['Paper', ({ differs, paper }) => (differs ? shown(paper) : 'the same'), 'number soft'],
            ['Meaning', ({ description }) => withCode(description), 'soft'],
          ]}
        />
      </Card>
      <Card title="Files" note="docs/training.md explains them">
        <PlainTable
          rows={files}
          idOf={({ path }) => path}
          columns={[
            [
              'File',
              ({ path }) => (
                <a
                  href={`/api/runs/${encodeURIComponent(name)}/file?${new URLSearchParams({ path })}`}
                  download
                >
                  {path}
                </a>
              ),
            ],
            ['Bytes', ({ bytes }) => tokens(bytes), 'number soft'],
          ]}
        />
      </Card>
    </>
  )
}

function shown(value: unknown): string {
  return value === undefined || value === null
    ? 'unset'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
}

/** What stands between backticks is code. */
function withCode(text: string): ReactNode {
  return text.split('`').map((part, place) => (place % 2 === 1 ? <code key={part}>{part}</code> : part))
}
