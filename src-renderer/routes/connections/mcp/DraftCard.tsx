import { For, type JSX, Show } from 'solid-js'
import type { McpDraft, SkippedMcpDraft } from '../../../../src-runner/contract/mcp-drafts.ts'
import { t } from '../../../lib/language.ts'
import { messageText } from '../../../lib/message-text.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { WhatRuns } from './WhatRuns.tsx'

/** A server that could be added: what it says of itself, and exactly what it would be. */
export function DraftCard(props: { draft: McpDraft; action: string; onAction: () => void; isBusy?: boolean }): JSX.Element {
  return (
    <article class="rounded-lg border border-line px-4 py-3">
      <div class="mb-2 flex items-start gap-3">
        <div class="min-w-0 flex-1">
          <h3 class="font-medium wrap-anywhere text-ink">{visibleText(props.draft.name)}</h3>
          <Show when={props.draft.description}>
            {(text) => <p class="line-clamp-3 text-xs wrap-anywhere text-ink-3">{visibleText(text())}</p>}
          </Show>
        </div>
        <Button size="sm" busy={props.isBusy} aria-label={`${props.action}: ${props.draft.name}`} onClick={() => props.onAction()}>
          {props.action}
        </Button>
      </div>
      <WhatRuns transport={props.draft.transport} />
      <Notes draft={props.draft} />
    </article>
  )
}

/** What the person should know, and the secrets that go to the keychain. */
export function Notes(props: { draft: McpDraft }): JSX.Element {
  return (
    <>
      <Show when={props.draft.values.length > 0}>
        <p class="mt-2 text-xs text-ink-3">
          {t('connections.mcp.secrets', { names: props.draft.values.map(({ name }) => visibleText(name)).join(', ') })}
        </p>
      </Show>
      <For each={props.draft.notes}>{(note) => <p class="mt-1 text-xs text-warn">{messageText(note)}</p>}</For>
    </>
  )
}

export function SkippedDrafts(props: { skipped: readonly SkippedMcpDraft[] }): JSX.Element {
  return (
    <For each={props.skipped}>
      {({ name, problem }) => (
        <p class="text-sm wrap-anywhere text-ink-2">
          <span class="font-medium">{visibleText(name)}</span>: {messageText(problem)}
        </p>
      )}
    </For>
  )
}
