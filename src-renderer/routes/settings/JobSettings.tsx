import { createEffect, createMemo, createSignal, on, Show } from 'solid-js'
import { useMay } from '../../api/may.ts'
import { useUpdateSettings } from '../../api/mutations.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { useAgents, useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { fieldText, readNumber } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { UnpricedNote } from '../../features/models/UnpricedNote.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { Row } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextField } from '../../ui/TextField.tsx'

const CHOICES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]

export function JobSettings() {
  const settings = useSettings()
  const agents = useAgents()
  const change = useUpdateSettings()
  const may = useMay()
  const concurrency = () => settings.data?.settings.concurrency
  const options = createMemo(() => {
    const now = concurrency()
    const counts = now === undefined || CHOICES.includes(now) ? CHOICES : [...CHOICES, now].toSorted((a, b) => a - b)
    return counts.map((count) => ({ value: String(count), label: String(count) }))
  })
  const choose = (count: string) => void change.run({ body: { concurrency: Number(count) } }).catch(toastError)
  return (
    <Panel title={t('settings.jobs.title')} flush>
      <Show
        when={!settings.error}
        fallback={
          <div class="p-4">
            <ErrorState compact problem={problemOf(settings.error)} onRetry={settings.retry} />
          </div>
        }
      >
        <Row id="concurrency" label={t('settings.jobs.concurrency')} hint={t('settings.jobs.concurrencyHint')}>
          <Select
            label={t('settings.jobs.concurrency')}
            hideLabel
            class="w-20"
            options={options()}
            value={concurrency() === undefined ? null : String(concurrency())}
            disabled={settings.isPending || !may('updateSettings')}
            onValue={choose}
          />
        </Row>
        <DayBudget budget={settings.data?.settings.dayBudgetUsd} />
        <Show when={settings.data?.settings.dayBudgetUsd}>
          <UnpricedNote agents={agents.data?.agents ?? []} />
        </Show>
        <Row id="rules" label={t('settings.jobs.rules')} hint={t('settings.jobs.rulesHint')}>
          <ButtonLink href="/rules">{t('settings.jobs.rulesOpen')}</ButtonLink>
        </Row>
      </Show>
    </Panel>
  )
}

/** Saved on blur or Enter. `undefined`: not loaded yet. */
function DayBudget(props: { budget: number | null | undefined }) {
  const change = useUpdateSettings()
  const may = useMay()
  const [typed, setTyped] = createSignal('')
  const [problem, setProblem] = createSignal<string | null>(null)
  createEffect(
    on(
      () => props.budget,
      (budget) => setTyped(fieldText(budget, locale())),
    ),
  )
  const save = () => {
    const amount = typed().trim() === '' ? null : readNumber(typed(), locale())
    if (amount !== null && !(amount >= 0.01 && amount <= 100_000)) return setProblem(t('settings.jobs.dayBudgetBad'))
    setProblem(null)
    if (props.budget === undefined || amount === props.budget) return
    change.run({ body: { dayBudgetUsd: amount } }).catch((thrown: unknown) => setProblem(sentenceOf(thrown)))
  }
  return (
    <Row id="day-budget" label={t('settings.jobs.dayBudget')} hint={t('settings.jobs.dayBudgetHint')}>
      <div class="w-28">
        <TextField
          label={t('settings.jobs.dayBudget')}
          hideLabel
          inputMode="decimal"
          placeholder={t('settings.jobs.dayBudgetNone')}
          problem={problem()}
          disabled={props.budget === undefined || !may('updateSettings')}
          value={typed()}
          onValue={setTyped}
          onBlur={save}
          onKeyDown={(event) => event.key === 'Enter' && save()}
        />
      </div>
    </Row>
  )
}
