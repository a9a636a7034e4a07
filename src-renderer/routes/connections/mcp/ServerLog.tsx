import RefreshCw from 'lucide-solid/icons/refresh-cw'
import { createSignal, For, type JSX, Show } from 'solid-js'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useMcpServerLog } from '../../../api/queries.ts'
import { locale, t } from '../../../lib/language.ts'
import { exactTime } from '../../../lib/time.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Panel } from '../../../ui/Panel.tsx'

/** What the server wrote to its log. It is read when it is opened. */
export function ServerLog(props: { mcpServerId: string }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false)
  const log = useMcpServerLog(() => (isOpen() ? props.mcpServerId : null))
  return (
    <Panel
      title={t('connections.mcp.log.title')}
      description={t('connections.mcp.log.about')}
      flush
      actions={
        <Show
          when={isOpen()}
          fallback={
            <Button size="sm" onClick={() => setOpen(true)}>
              {t('connections.mcp.log.show')}
            </Button>
          }
        >
          <IconButton size="sm" icon={RefreshCw} label={t('connections.mcp.log.refresh')} onClick={() => log.retry()} />
        </Show>
      }
    >
      <Show when={isOpen()}>
        <div class="px-4 pb-4">
          <Show when={log.data} fallback={<AnswerState answer={log} rows={3} compact />}>
            {(data) => (
              <Show when={data().lines.length > 0} fallback={<p class="text-sm text-ink-3">{t('connections.mcp.log.empty')}</p>}>
                <div
                  role="log"
                  aria-label={t('connections.mcp.log.title')}
                  tabIndex={0}
                  class="scroll-quiet max-h-72 overflow-auto rounded-md border border-line bg-inset px-3 py-2 font-mono text-xs"
                >
                  <For each={data().lines}>
                    {(line) => (
                      <div class="flex gap-3" title={exactTime(line.at, locale())}>
                        <span class="shrink-0 text-ink-3">{new Date(line.at).toLocaleTimeString(locale())}</span>
                        <span class="min-w-0 wrap-anywhere whitespace-pre-wrap text-ink-2">{visibleText(line.text)}</span>
                      </div>
                    )}
                  </For>
                </div>
              </Show>
            )}
          </Show>
        </div>
      </Show>
    </Panel>
  )
}
