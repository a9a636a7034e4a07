import { createMemo, createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import { formatPatch, structuredPatch } from 'diff'
import type { McpTool, McpToolEffect } from '../../../../src-runner/contract/mcp.ts'
import { compactText } from '../../../../resources/locales/numbers.ts'
import { DiffView } from '../../../features/files/DiffView.tsx'
import { locale, t } from '../../../lib/language.ts'
import { messageText } from '../../../lib/message-text.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Fold } from '../../../ui/Fold.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Select } from '../../../ui/Select.tsx'

/** null: no agent has the tool. */
export type Effect = McpToolEffect | null

const EFFECTS = ['read', 'idempotent', 'once'] as const

/** For a changed tool: its class, unless the server now proposes a stricter one. */
function stricterOf(effect: Effect, proposal: McpToolEffect): McpToolEffect {
  return effect !== null && EFFECTS.indexOf(effect) > EFFECTS.indexOf(proposal) ? effect : proposal
}

/** One tool: what it says about itself, and what the person says that it does. */
export function ToolRow(props: { tool: McpTool; isBusy: boolean; onDecide: (effect: Effect) => void }): JSX.Element {
  const needsDecision = () => props.tool.status === 'new' || props.tool.status === 'changed'
  const [chosen, setChosen] = createSignal<McpToolEffect | null>(null)
  const effect = () => chosen() ?? (needsDecision() ? stricterOf(props.tool.effect, props.tool.proposal) : props.tool.effect)
  const choose = (value: McpToolEffect | 'off') => {
    if (needsDecision()) setChosen(value === 'off' ? null : value)
    else props.onDecide(value === 'off' ? null : value)
  }
  return (
    <li class="border-t border-line px-4 py-3">
      <div class="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div class="min-w-60 flex-1">
          <div class="flex flex-wrap items-center gap-2">
            <span class="font-medium wrap-anywhere text-ink">{visibleText(props.tool.title ?? props.tool.name)}</span>
            <Show when={props.tool.status !== 'accepted'}>
              <Pill tone={props.tool.status === 'gone' ? 'plain' : 'warn'}>{t(`connections.mcp.tools.status.${props.tool.status}`)}</Pill>
            </Show>
          </div>
          <div class="font-mono text-xs wrap-anywhere text-ink-3">
            {visibleText(props.tool.agentName)} · {t('connections.mcp.tokens', { tokens: compactText(props.tool.tokens, locale()) })}
          </div>
        </div>
        <Show when={props.tool.status !== 'gone' && props.tool.problem === null}>
          <div class="flex items-center gap-2">
            <Select
              class="w-44"
              size="sm"
              label={t('connections.mcp.tools.effectOf', { tool: props.tool.name })}
              hideLabel
              disabled={props.isBusy}
              value={effect() ?? 'off'}
              onValue={choose}
              options={[
                ...EFFECTS.map((value) => ({
                  value,
                  label: t(`connections.mcp.effects.${value}`),
                  note: t(`connections.mcp.effects.${value}Why`),
                })),
                ...(needsDecision() ? [] : [{ value: 'off' as const, label: t('connections.mcp.effects.off') }]),
              ]}
            />
            <Show when={needsDecision()}>
              <Button
                size="sm"
                disabled={props.isBusy}
                aria-label={t('connections.mcp.tools.acceptOne', { tool: props.tool.name })}
                onClick={() => props.onDecide(effect())}
              >
                {t('connections.mcp.tools.accept')}
              </Button>
            </Show>
          </div>
        </Show>
      </div>
      <Switch fallback={<Description tool={props.tool} />}>
        <Match when={props.tool.problem}>
          {(problem) => (
            <p role="alert" class="mt-1 text-sm text-bad">
              {messageText(problem())}
            </p>
          )}
        </Match>
        <Match when={props.tool.status === 'changed' && props.tool.accepted}>
          {(accepted) => <Change tool={props.tool} accepted={accepted()} />}
        </Match>
      </Switch>
    </li>
  )
}

/** The words of the server. They are untrusted, so they are shown as plain text. */
function Description(props: { tool: McpTool }): JSX.Element {
  const text = () => visibleText(props.tool.description.trim())
  return (
    <>
      <Show when={text() !== ''}>
        <p class="mt-1 line-clamp-2 text-sm wrap-anywhere text-ink-2">{text()}</p>
      </Show>
      <div class="mt-1">
        <Fold label={t('connections.mcp.tools.whole')}>
          <pre class="scroll-quiet mt-1 max-h-72 overflow-auto rounded-md border border-line bg-inset px-3 py-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink-2">
            {visibleText(definitionText(props.tool))}
          </pre>
        </Fold>
      </div>
    </>
  )
}

/** What is different from what was accepted. */
function Change(props: { tool: McpTool; accepted: NonNullable<McpTool['accepted']> }): JSX.Element {
  const diff = createMemo(() => diffOf(definitionText(props.accepted), definitionText(props.tool)))
  return (
    <div class="mt-2">
      <p class="mb-1 text-xs text-ink-3">{t('connections.mcp.tools.changedWhy')}</p>
      <DiffView path={props.tool.name} diff={diff()} height="max-h-80" />
    </div>
  )
}

/** Comparing takes the square of what differs. A server may write two definitions that have nothing in common. */
const MAX_EDITS = 300

/** With more differences than that, all of the one is shown before all of the other. */
function diffOf(before: string, after: string): string {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: MAX_EDITS })
  if (patch !== undefined) return formatPatch(patch)
  const [old, now] = [before, after].map((text) => text.trimEnd().split('\n')) as [string[], string[]]
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
  return `@@ -1,${old.length} +1,${now.length} @@\n${lines.join('\n')}\n`
}

function definitionText({ description, inputSchema }: { description: string; inputSchema: Record<string, unknown> }): string {
  return `${description.trim()}\n\n${JSON.stringify(inputSchema, null, 2)}\n`
}
