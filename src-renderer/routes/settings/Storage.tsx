import { For, Show } from 'solid-js'
import { bytesText } from '../../../resources/locales/numbers.ts'
import type { TableSize } from '../../../src-runner/contract/diagnostics.ts'
import { problemOf } from '../../api/problem.ts'
import { useBackups, useDiagnostics } from '../../api/queries.ts'
import { locale, t } from '../../lib/language.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'

const KINDS = ['jobs', 'conversations', 'webhooks', 'schedules', 'memories', 'events', 'other'] as const
type Kind = (typeof KINDS)[number]

/** The first that fits. */
const TABLES: [RegExp, Kind][] = [
  [/^(agent_jobs|job_|reply_parts|approvals|decisions|search_|postponed_jobs|file_changes|client_turns|budget_extensions)/, 'jobs'],
  [/^(conversations|messages|channel|outbox)/, 'conversations'],
  [/^webhook_/, 'webhooks'],
  [/^(schedules|occurrences)/, 'schedules'],
  [/^memor/, 'memories'],
  [/^events/, 'events'],
]

/** What takes up the space of the database, the largest first, and the backups. */
export function Storage() {
  const sizes = useDiagnostics()
  const backups = useBackups()
  const backupBytes = () => (backups.data?.backups ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
  return (
    <div id="storage" class="scroll-mt-6 rounded-xl outline-offset-4">
      <Panel title={t('settings.storage.title')} description={t('settings.storage.about')} flush>
        <Show
          when={sizes.data}
          fallback={
            <Show when={sizes.error}>
              <div class="p-4">
                <ErrorState compact problem={problemOf(sizes.error)} onRetry={sizes.retry} />
              </div>
            </Show>
          }
        >
          {(data) => (
            <div>
              <For each={sumUp(data().tables)}>
                {({ kind, bytes }) => <Size label={t(`settings.storage.kinds.${kind}`)} bytes={bytes} />}
              </For>
              <Size label={t('settings.backups.title')} bytes={backupBytes()} />
            </div>
          )}
        </Show>
      </Panel>
    </div>
  )
}

function Size(props: { label: string; bytes: number }) {
  return (
    <Row label={props.label}>
      <span class="text-sm text-ink-2 tabular-nums">{bytesText(props.bytes, locale())}</span>
    </Row>
  )
}

function sumUp(tables: readonly TableSize[]): { kind: Kind; bytes: number }[] {
  const kindOf = (name: string) => TABLES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
  const bytesOf = (kind: Kind) => tables.filter(({ name }) => kindOf(name) === kind).reduce((sum, { bytes }) => sum + bytes, 0)
  return KINDS.map((kind) => ({ kind, bytes: bytesOf(kind) })).toSorted((a, b) => b.bytes - a.bytes)
}
