import { useSearchParams } from '@solidjs/router'
import { createEffect, createSignal, onCleanup, Show } from 'solid-js'
import { LOG_LEVELS, type LogLine, type LogQuery } from '../../../src-main/contract/logs.ts'
import { locale, t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextField } from '../../ui/TextField.tsx'

const FOLLOW_EVERY_MS = 2000

const TONES: Record<LogLine['level'], string> = { error: 'text-bad', warn: 'text-warn', info: 'text-ink-2', debug: 'text-ink-3' }

/** The newest lines of the app's logs. Follows them while it is shown. Only in the app: the logs belong to its machine. */
export function LogViewer() {
  const desktop = useDesktop()
  // In the URL, so that a reload keeps it.
  const [search, setSearch] = useSearchParams<{ log?: string; logLevel?: string }>()
  const query = (): LogQuery => ({ level: LOG_LEVELS.find((level) => level === search.logLevel) ?? 'info', text: search.log ?? '' })
  const [lines, setLines] = createSignal<LogLine[] | null>(null)
  const [hasFailed, setFailed] = createSignal(false)
  createEffect(() => {
    const { api } = desktop
    const asked = query()
    if (api === null) return
    let isCurrent = true
    const read = async () => {
      const found = await api.readLogs(asked).catch(() => null)
      if (!isCurrent) return
      setFailed(found === null)
      if (found !== null) setLines(found)
    }
    void read()
    const timer = setInterval(() => void (document.hidden || read()), FOLLOW_EVERY_MS)
    onCleanup(() => {
      isCurrent = false
      clearInterval(timer)
    })
  })
  return (
    <Show when={desktop.inApp}>
      <div id="log" class="scroll-mt-6 rounded-xl outline-offset-4">
        <Panel title={t('settings.logs.title')} description={t('settings.logs.about')} flush>
          <div class="flex flex-wrap items-end gap-2 border-b border-line px-4 pb-3">
            <div class="min-w-48 flex-1">
              <TextField
                label={t('settings.logs.filter')}
                hideLabel
                placeholder={t('settings.logs.filter')}
                value={query().text}
                onValue={(text) => setSearch({ log: text === '' ? undefined : text }, { replace: true })}
              />
            </div>
            <Select
              label={t('settings.logs.level')}
              hideLabel
              class="w-36"
              options={LOG_LEVELS.map((value) => ({ value, label: t(`settings.data.logLevels.${value}`) }))}
              value={query().level}
              onValue={(level) => setSearch({ logLevel: level === 'info' ? undefined : level }, { replace: true })}
            />
          </div>
          <Show when={!hasFailed()} fallback={<Note text={t('settings.logs.failed')} />}>
            <Show when={lines()}>
              {(found) => (
                <Show
                  when={found().length > 0}
                  fallback={<Note text={query().text === '' ? t('settings.logs.empty') : t('settings.logs.none')} />}
                >
                  <ul
                    class="scroll-quiet max-h-96 overflow-y-auto py-1 font-mono text-xs"
                    aria-label={t('settings.logs.title')}
                    tabIndex={0}
                  >
                    <KeyedFor each={found()} keyOf={(line) => line.id}>
                      {(line) => <Line line={line()} />}
                    </KeyedFor>
                  </ul>
                </Show>
              )}
            </Show>
          </Show>
        </Panel>
      </div>
    </Show>
  )
}

function Note(props: { text: string }) {
  return <p class="px-4 py-3 text-sm text-ink-3">{props.text}</p>
}

function Line(props: { line: LogLine }) {
  const time = () =>
    new Date(props.line.at).toLocaleString(locale(), {
      month: 'numeric',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  const head = () => (
    <>
      <span class="text-ink-3 tabular-nums">{time()}</span>{' '}
      <span class={`font-semibold ${TONES[props.line.level]}`}>{t(`settings.logs.levels.${props.line.level}`)}</span>{' '}
      <span class="text-ink-3">{t(`settings.logs.processes.${props.line.process}`)}</span>{' '}
      <span class="text-ink wrap-anywhere">{props.line.message}</span>
    </>
  )
  return (
    <li class="px-4 py-0.5">
      <Show when={props.line.details !== ''} fallback={<div class="pl-4">{head()}</div>}>
        <details class="pl-4">
          <summary class="cursor-default list-outside">{head()}</summary>
          <pre class="mt-1 mb-1 max-h-64 overflow-auto rounded-md bg-inset p-2 whitespace-pre-wrap wrap-anywhere text-ink-2">
            {props.line.details}
          </pre>
        </details>
      </Show>
    </li>
  )
}
