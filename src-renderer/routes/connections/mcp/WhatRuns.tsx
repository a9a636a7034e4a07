import { For, type JSX, Show } from 'solid-js'
import type { McpTransport } from '../../../../src-runner/contract/mcp.ts'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'

/** Exactly what is started or called, and what it reaches. Each argument stands alone, so that nothing hides in a space. */
export function WhatRuns(props: { transport: McpTransport }): JSX.Element {
  const program = () => (props.transport.kind === 'stdio' ? props.transport : null)
  const remote = () => (props.transport.kind === 'stdio' ? null : props.transport)
  return (
    <dl class="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm max-sm:grid-cols-1 max-sm:gap-y-0.5 max-sm:[&_dd]:mb-1.5">
      <Show when={program()}>
        {(one) => (
          <>
            <Line label={t('connections.mcp.runs.program')}>
              <Code text={one().command} />
            </Line>
            <Line label={t('connections.mcp.runs.args')}>
              <Several values={one().args} none={t('connections.mcp.runs.noArgs')} />
            </Line>
            <Show when={one().envNames.length > 0}>
              <Line label={t('connections.mcp.runs.env')}>
                <Several values={one().envNames} none="" />
              </Line>
            </Show>
            <Line label={t('connections.mcp.runs.folders')}>
              <Several values={one().folders} none={t('connections.mcp.runs.noFolders')} />
            </Line>
            <Line label={t('connections.mcp.runs.network')}>
              <Show when={!one().hosts.includes('*')} fallback={<span class="text-warn">{t('connections.mcp.runs.anyHost')}</span>}>
                <Several values={one().hosts} none={t('connections.mcp.runs.noNetwork')} />
              </Show>
            </Line>
            <Show when={one().allowsUnsandboxed}>
              <Line label={t('connections.mcp.runs.sandbox')}>
                <span class="text-warn">{t('connections.mcp.runs.unsandboxed')}</span>
              </Line>
            </Show>
          </>
        )}
      </Show>
      <Show when={remote()}>
        {(one) => (
          <>
            <Line label={t('connections.mcp.runs.url')}>
              <Code text={one().url} />
            </Line>
            <Show when={one().headerNames.length > 0}>
              <Line label={t('connections.mcp.runs.headers')}>
                <Several values={one().headerNames} none="" />
              </Line>
            </Show>
          </>
        )}
      </Show>
    </dl>
  )
}

function Line(props: { label: string; children: JSX.Element }): JSX.Element {
  return (
    <>
      <dt class="text-ink-3">{props.label}</dt>
      <dd class="flex min-w-0 flex-wrap gap-1 text-ink">{props.children}</dd>
    </>
  )
}

function Several(props: { values: readonly string[]; none: string }): JSX.Element {
  return (
    <Show when={props.values.length > 0} fallback={<span class="text-ink-2">{props.none}</span>}>
      <For each={props.values}>{(value) => <Code text={value} />}</For>
    </Show>
  )
}

function Code(props: { text: string }): JSX.Element {
  return (
    <code class="rounded-sm bg-hover px-1.5 py-0.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap">{visibleText(props.text)}</code>
  )
}
