import { type ReactNode, useState } from 'react'
import { tokens } from '../../../src/cli/display/numbers.ts'
import type { RunDetail } from '../../../src/view/run-detail.ts'
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
        note={
          differing.length === 0 ? "all of them the paper's" : `${differing.length} differ from the paper's`
        }
      >
        <p>
          <button type="button" className="button" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Only those that differ' : `All ${settings.length}`}
          </button>
        </p>
        <div className="scroll">
          <table className="plain">
            <thead>
              <tr>
                <th>Setting</th>
                <th className="number">Value</th>
                <th className="number">Paper</th>
                <th>Meaning</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name: setting, description, value, differs, paper }) => (
                <tr key={setting}>
                  <th scope="row">
                    <code>{setting}</code>
                  </th>
                  <td className="number">{shown(value)}</td>
                  <td className="number soft">{differs ? shown(paper) : 'the same'}</td>
                  <td className="soft">{description}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      <Card title="Files" note="docs/training.md explains them">
        <div className="scroll">
          <table className="plain">
            <thead>
              <tr>
                <th>File</th>
                <th className="number">Bytes</th>
              </tr>
            </thead>
            <tbody>
              {files.map(({ path, bytes }) => (
                <tr key={path}>
                  <td>
                    <a
                      href={`/api/runs/${encodeURIComponent(name)}/file?${new URLSearchParams({ path })}`}
                      download
                    >
                      {path}
                    </a>
                  </td>
                  <td className="number soft">{tokens(bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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
