import { createMemo, createSignal, For, type JSX, Show } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { SimulatedCall } from '../../../src-runner/contract/rules.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf, problemOf, sentenceOf } from '../../api/problem.ts'
import { useAgents, useTools } from '../../api/queries.ts'
import { effectText } from '../approvals/approval-text.ts'
import { Overruled, VerdictMark, TraceEntryText } from '../approvals/DecisionTrace.tsx'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { argsOf, fieldsOf, type ToolField } from './tool-fields.ts'

/** Shows what the policy would decide about a call, without making it. */
export function Simulator(): JSX.Element {
  const agents = useAgents()
  const tools = useTools()
  const simulate = useAction('simulateCall')
  const [agentId, setAgentId] = createSignal<string | null>(null)
  const [tool, setTool] = createSignal<string | null>(null)
  const [values, setValues] = createStore<Record<string, string>>({})
  const [raw, setRaw] = createSignal('{}')
  const [taints, setTaints] = createStore({ untrusted: false, private: false })
  const [outcome, setOutcome] = createSignal<{ of: string; answer: SimulatedCall | null; thrown: unknown } | null>(null)

  const allAgents = () => agents.data?.agents ?? []
  const chosenAgent = () => agentId() ?? allAgents().find((agent) => agent.isDefault)?.id ?? allAgents()[0]?.id ?? null
  const fields = createMemo(() => (tool() === null ? [] : fieldsOf(tool()!)))
  const call = createMemo(() => JSON.stringify([chosenAgent(), tool(), raw(), values, taints]))
  // A decision is shown only for the call that it was made about.
  const shown = () => (outcome()?.of === call() ? outcome() : null)
  const answer = () => shown()?.answer ?? null
  const thrown = () => shown()?.thrown ?? null
  const rawArgs = () => objectOf(raw())
  const args = () => {
    const known = fields()
    return known === null ? rawArgs() : argsOf(known, values)
  }
  const run = async () => {
    const name = tool()
    const given = args()
    if (name === null || given === null) return
    const of = call()
    try {
      const body = { agentId: chosenAgent() ?? undefined, tool: name, args: given, taints: { ...taints } }
      setOutcome({ of, answer: await simulate.run({ body }), thrown: null })
    } catch (problem) {
      setOutcome({ of, answer: null, thrown: problem })
    }
  }
  const issue = (argument: string) => issueOf(thrown(), `args.${argument}`) ?? issueOf(thrown(), argument)
  const isShownAtFields = () =>
    thrown() instanceof ApiError &&
    (thrown() as ApiError).issues.length > 0 &&
    (fields() ?? []).some(({ argument }) => issue(argument) !== null)

  return (
    <Panel title={t('rules.simulator.title')} description={t('rules.simulator.text')}>
      <form
        noValidate
        class="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <div class="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <Select
            label={t('rules.simulator.agent')}
            options={allAgents().map((agent) => ({ value: agent.id, label: agent.name }))}
            value={chosenAgent()}
            onValue={setAgentId}
          />
          <Select
            label={t('rules.simulator.tool')}
            placeholder={t('rules.simulator.chooseTool')}
            options={(tools.data?.tools ?? []).map((one) => ({ value: one.name, label: one.name }))}
            value={tool()}
            onValue={setTool}
          />
          <Show when={tools.error}>
            <ErrorState compact problem={problemOf(tools.error)} onRetry={tools.retry} />
          </Show>
        </div>
        <Show when={tool()} keyed>
          <Show
            when={fields()}
            fallback={
              <TextArea
                mono
                label={t('rules.simulator.raw')}
                rows={4}
                problem={rawArgs() === null ? t('rules.simulator.rawBad') : null}
                value={raw()}
                onValue={setRaw}
              />
            }
          >
            {(known) => (
              <For each={known()}>
                {(field) => (
                  <ArgumentField
                    field={field}
                    problem={issue(field.argument)}
                    value={values[field.argument] ?? ''}
                    onValue={(value) => setValues(field.argument, value)}
                  />
                )}
              </For>
            )}
          </Show>
        </Show>
        <fieldset class="flex flex-wrap gap-x-6 gap-y-2">
          <legend class="pb-1.5 text-sm font-medium text-ink">{t('rules.simulator.assumeTaints')}</legend>
          <Checkbox label={t('approvals.hasTaint.untrusted')} checked={taints.untrusted} onChecked={(on) => setTaints('untrusted', on)} />
          <Checkbox label={t('approvals.hasTaint.private')} checked={taints.private} onChecked={(on) => setTaints('private', on)} />
        </fieldset>
        <div>
          <Button type="submit" variant="primary" busy={simulate.isRunning} disabled={tool() === null || args() === null}>
            {t('rules.simulator.run')}
          </Button>
        </div>
        <div aria-live="polite">
          <Show when={thrown() !== null && !isShownAtFields()}>
            <p class="text-sm text-bad">{sentenceOf(thrown())}</p>
          </Show>
          <Show when={answer()}>{(simulated) => <Verdict simulated={simulated()} />}</Show>
        </div>
      </form>
    </Panel>
  )
}

/** The object that a JSON text holds, or null. */
function objectOf(json: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(json)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function ArgumentField(props: { field: ToolField; problem: string | null; value: string; onValue: (value: string) => void }): JSX.Element {
  const label = () => t(`rules.simulator.fields.${props.field.label}`)
  const placeholder = () => props.field.example && t(`rules.simulator.examples.${props.field.example}`)
  return (
    <Show
      when={props.field.kind === 'text'}
      fallback={
        <TextField mono label={label()} placeholder={placeholder()} problem={props.problem} value={props.value} onValue={props.onValue} />
      }
    >
      <TextArea mono label={label()} rows={2} maxRows={8} problem={props.problem} value={props.value} onValue={props.onValue} />
    </Show>
  )
}

const TONES = { run: 'border-ok/40 bg-ok-soft', ask: 'border-warn/40 bg-warn-soft', deny: 'border-bad/40 bg-bad-soft' }

function Verdict(props: { simulated: SimulatedCall }): JSX.Element {
  const decision = () => props.simulated.decision
  return (
    <section aria-label={t('rules.simulator.title')} class={`flex flex-col gap-3 rounded-lg border p-4 ${TONES[decision().verdict]}`}>
      <p class="flex items-center gap-2 text-md font-semibold text-ink">
        <VerdictMark verdict={decision().verdict} size={18} />
        {t(`rules.simulator.verdict.${decision().verdict}`)}
      </p>
      <dl class="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm max-sm:grid-cols-1">
        <dt class="text-ink-2">{t('rules.simulator.what')}</dt>
        <dd class="wrap-anywhere text-ink">{effectText(props.simulated.facts)}</dd>
        <dt class="text-ink-2">{t('rules.simulator.because')}</dt>
        <dd class="text-ink">
          <TraceEntryText entry={decision().decidedBy} />
        </dd>
        <dt class="text-ink-2">{t('rules.simulator.overruled')}</dt>
        <dd class="text-ink">
          <Show when={decision().overruled.length > 0} fallback={<span class="text-ink-2">{t('rules.simulator.nothingOverruled')}</span>}>
            <Overruled trace={decision().overruled} />
          </Show>
        </dd>
      </dl>
    </section>
  )
}
