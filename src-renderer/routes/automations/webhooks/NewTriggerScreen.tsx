import { useNavigate, useSearchParams } from '@solidjs/router'
import { createEffect, createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import { MAX_WEBHOOK_BYTES, type SignatureScheme, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { ApiError } from '../../../api/client.ts'
import { useAction } from '../../../api/mutations.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { useTrigger } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Screen } from '../../../ui/Screen.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextArea } from '../../../ui/TextArea.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { AgentField, useDefaultAgent } from '../AgentField.tsx'
import { BackLink } from '../../../ui/BackLink.tsx'
import { NotifyField } from '../NotifyField.tsx'
import { EditorForm } from '../../../features/forms/EditorForm.tsx'
import { type Form, useForm } from '../../../features/forms/use-form.ts'
import { keepFreshAddress } from './fresh-address.ts'
import { pathsOf, sampleFor } from './json-paths.ts'
import { TemplatePreview } from './TemplatePreview.tsx'
import {
  ADVANCED_FIELDS,
  bodyOfTrigger,
  copyOfTrigger,
  EMPTY_TRIGGER,
  fieldOfTriggerIssue,
  problemsOfTrigger,
  type TriggerForm,
} from './trigger-form.ts'
import { fillFrom, isPreset, type Preset, PRESETS } from './webhook-presets.ts'

/** `/automations/webhooks/new`. `?preset=` fills in an example, `?from=` a copy of another webhook. */
export function NewTriggerScreen(): JSX.Element {
  const [search] = useSearchParams<{ preset?: string; from?: string }>()
  const original = useTrigger(() => search.from)
  return (
    <Screen>
      <BackLink href="/automations/webhooks">{t('automations.webhooks')}</BackLink>
      <PageHeader title={t('automations.webhook.createTitle')} description={t('automations.webhook.createIntro')} />
      <Switch fallback={<AnswerState answer={original} rows={6} />}>
        <Match when={search.from === undefined}>
          <Editor original={null} preset={isPreset(search.preset) ? search.preset : null} />
        </Match>
        <Match when={original.data?.trigger}>{(trigger) => <Editor original={trigger()} preset={null} />}</Match>
      </Switch>
    </Screen>
  )
}

function Editor(props: { original: Trigger | null; preset: Preset | null }): JSX.Element {
  const navigate = useNavigate()
  const create = useAction('createTrigger')
  const form = useForm<TriggerForm>({
    first: props.original === null ? EMPTY_TRIGGER : copyOfTrigger(props.original),
    check: problemsOfTrigger,
    fieldOfIssue: fieldOfTriggerIssue,
  })
  const [preset, setPreset] = createSignal<Preset | null>(null)
  const [sample, setSample] = createSignal(props.original === null ? '' : sampleFor(props.original.taskTemplate))

  const choosePreset = (next: Preset, isChange: boolean) => {
    const last = preset()
    const before = last === null ? null : fillFrom(last)
    const filled = fillFrom(next)
    // What the person has written stays.
    const pick = <K extends keyof typeof filled>(key: K, value: (typeof filled)[K]) =>
      before === null || value === '' || value === before[key] ? filled[key] : value
    setPreset(next)
    setSample(pick('sample', sample()))
    const { name, taskTemplate, dedupe } = form.fields
    form.fill(
      { ...form.fields, name: pick('name', name), taskTemplate: pick('taskTemplate', taskTemplate), dedupe: pick('dedupe', dedupe) },
      isChange,
    )
  }
  if (props.original === null) choosePreset(props.preset ?? 'generic', false)
  if (props.original === null && props.preset === null) form.fill({ ...form.fields, name: '', taskTemplate: '' })

  useDefaultAgent(form)

  const save = () =>
    form.submit(async (fields) => {
      const { trigger, url } = await create.run({ body: bodyOfTrigger(fields) })
      keepFreshAddress({ triggerId: trigger.id, url, sample: sample(), isReplacement: false })
      return () => navigate(`/automations/webhooks/${trigger.id}`, { replace: true })
    })
  const slugIsTaken = () => {
    const thrown = form.trouble()
    return thrown instanceof ApiError && thrown.code === 'trigger_slug_taken'
  }

  return (
    <EditorForm
      form={form}
      isNew
      submit={t('automations.webhook.create')}
      isBusy={create.isRunning}
      onSave={() => void save()}
      onCancel={() => navigate('/automations/webhooks')}
      note={t('automations.webhook.finalNote')}
      describeTrouble={(thrown) => (slugIsTaken() ? t('automations.webhook.slugTaken') : sentenceOf(thrown))}
    >
      <div class="grid grid-cols-[minmax(0,1fr)_minmax(0,24rem)] items-start gap-4 max-lg:grid-cols-1">
        <div class="flex min-w-0 flex-col gap-4">
          <Panel>
            <div class="flex flex-col gap-4">
              <Show when={props.original === null}>
                <Select<Preset>
                  label={t('automations.webhook.preset')}
                  options={PRESETS.map((value) => ({ value, label: t(`automations.webhook.presets.${value}`) }))}
                  value={preset()}
                  onValue={(next) => choosePreset(next, true)}
                />
              </Show>
              <div class="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
                <TextField
                  isFirst
                  label={t('automations.webhook.name')}
                  hint={t('automations.webhook.nameHint')}
                  problem={form.problemOf('name')}
                  value={form.fields.name}
                  onValue={(value) => form.change('name', value)}
                />
                <AgentField
                  value={form.fields.agentId}
                  onValue={(value) => form.change('agentId', value)}
                  problem={form.problemOf('agentId')}
                />
              </div>
              <TemplateField form={form} sample={sample()} />
              <TextArea
                mono
                label={t('automations.webhook.sample')}
                hint={t('automations.webhook.sampleHint')}
                rows={5}
                maxRows={12}
                maxLength={MAX_WEBHOOK_BYTES}
                value={sample()}
                onValue={setSample}
              />
              <NotifyField
                agentId={form.fields.agentId}
                isOn={form.fields.notifyOnSuccess}
                via={form.fields.notifyVia}
                onIsOn={(value) => form.change('notifyOnSuccess', value)}
                onVia={(value) => typeof value === 'string' && form.change('notifyVia', value)}
                problem={form.problemOf('notifyOnSuccess') ?? form.problemOf('notifyVia')}
              />
            </div>
          </Panel>
          <Advanced form={form} isCopy={props.original !== null} slugIsTaken={slugIsTaken()} />
        </div>
        <div class="sticky top-4 min-w-0 max-lg:static">
          <Panel>
            <TemplatePreview template={form.fields.taskTemplate} sample={sample()} />
          </Panel>
        </div>
      </div>
    </EditorForm>
  )
}

const SUGGESTED = 12

/** The task, and the fields of the sample, which can be inserted at the caret. */
function TemplateField(props: { form: Form<TriggerForm>; sample: string }): JSX.Element {
  let area!: HTMLTextAreaElement
  const unused = () =>
    pathsOf(props.sample)
      .filter((path) => !props.form.fields.taskTemplate.includes(`{${path}}`))
      .slice(0, SUGGESTED)
  const insert = (path: string) => {
    const before = props.form.fields.taskTemplate
    const at = area.selectionStart ?? before.length
    const placeholder = `{${path}}`
    props.form.change('taskTemplate', before.slice(0, at) + placeholder + before.slice(area.selectionEnd ?? at))
    queueMicrotask(() => {
      area.focus()
      area.setSelectionRange(at + placeholder.length, at + placeholder.length)
    })
  }
  return (
    <div class="flex flex-col gap-2">
      <TextArea
        ref={(element) => (area = element)}
        label={t('automations.webhook.template')}
        hint={t('automations.webhook.templateHint')}
        placeholder={t('automations.webhook.templatePlaceholder')}
        rows={8}
        maxRows={20}
        problem={props.form.problemOf('taskTemplate')}
        value={props.form.fields.taskTemplate}
        onValue={(value) => props.form.change('taskTemplate', value)}
      />
      <Show when={unused().length > 0}>
        <div class="flex flex-wrap items-center gap-1.5">
          <span class="text-xs text-ink-3">{t('automations.webhook.insert')}</span>
          <PathButtons paths={unused()} onInsert={insert} />
        </div>
      </Show>
    </div>
  )
}

function PathButtons(props: { paths: string[]; onInsert: (path: string) => void }): JSX.Element {
  return (
    <For each={props.paths}>
      {(path) => (
        <button
          type="button"
          aria-label={t('automations.webhook.insertField', { path })}
          class="rounded-md border border-line bg-inset px-1.5 py-0.5 font-mono text-2xs wrap-anywhere text-ink-2 hover:border-line-strong hover:text-ink"
          onClick={() => props.onInsert(path)}
        >
          {path}
        </button>
      )}
    </For>
  )
}

const SCHEMES: (SignatureScheme | 'none')[] = ['none', 'github', 'stripe', 'slack', 'standard_webhooks']

function Advanced(props: { form: Form<TriggerForm>; isCopy: boolean; slugIsTaken: boolean }): JSX.Element {
  const [isOpen, setOpen] = createSignal(props.form.fields.scheme !== 'none')
  // Opens when a field inside has a problem. Only the person closes it.
  createEffect(() => {
    if (props.slugIsTaken || ADVANCED_FIELDS.some((field) => props.form.problemOf(field) !== null)) setOpen(true)
  })
  return (
    <details class="rounded-xl border border-line bg-surface" open={isOpen()} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="rounded-xl px-4 py-3 text-sm font-semibold text-ink">{t('automations.advanced')}</summary>
      <div class="flex flex-col gap-4 px-4 pb-4">
        <TextField
          mono
          optional
          label={t('automations.webhook.slug')}
          hint={t('automations.webhook.slugHint')}
          problem={props.slugIsTaken ? t('automations.webhook.slugTaken') : props.form.problemOf('slug')}
          value={props.form.fields.slug}
          onValue={(value) => props.form.change('slug', value)}
        />
        <div class="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
          <Select<SignatureScheme | 'none'>
            label={t('automations.webhook.signature')}
            hint={t('automations.webhook.signatureHint')}
            options={SCHEMES.map((value) => ({ value, label: t(`automations.webhook.signatureOf.${value}`) }))}
            value={props.form.fields.scheme}
            onValue={(value) => props.form.change('scheme', value)}
            problem={props.form.problemOf('scheme')}
          />
          <Show when={props.form.fields.scheme !== 'none'}>
            <TextField
              type="password"
              autocomplete="off"
              label={t('automations.webhook.secret')}
              hint={props.isCopy ? t('automations.webhook.secretAgain') : t('automations.webhook.secretHint')}
              problem={props.form.problemOf('secret')}
              value={props.form.fields.secret}
              onValue={(value) => props.form.change('secret', value)}
            />
          </Show>
        </div>
        <Checkbox
          label={t('automations.webhook.dedupe')}
          hint={t('automations.webhook.dedupeHint')}
          checked={props.form.fields.dedupe}
          onChecked={(value) => props.form.change('dedupe', value)}
        />
        <Checkbox
          label={t('automations.webhook.requirePlaceholders')}
          hint={t('automations.webhook.requirePlaceholdersHint')}
          checked={props.form.fields.requirePlaceholders}
          onChecked={(value) => props.form.change('requirePlaceholders', value)}
        />
      </div>
    </details>
  )
}
