import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { useModels } from '../../api/queries.ts'
import type { Form } from '../../features/forms/use-form.ts'
import { UnpricedNote } from '../../features/models/UnpricedNote.tsx'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { type AgentForm, BUDGET_FIELDS, DEFAULT_LIMIT_FIELDS, LIMIT_FIELDS } from './agent-form.ts'
import { FallbacksField, ModelField } from './ModelField.tsx'

type PanelProps = { form: Form<AgentForm>; agent: Agent | null }

export function GeneralPanel(props: PanelProps): JSX.Element {
  return (
    <Panel title={t('agents.sections.general')}>
      <div class="flex flex-col gap-4">
        <div class="flex flex-wrap gap-4">
          <div class="min-w-56 flex-1">
            <TextField
              isFirst={props.agent === null}
              label={t('agents.name')}
              hint={t('agents.nameHint')}
              placeholder={t('agents.namePlaceholder')}
              problem={props.form.problemOf('name')}
              value={props.form.fields.name}
              onValue={(value) => props.form.change('name', value)}
            />
          </div>
          <div class="w-40">
            <TextField
              label={t('agents.avatar')}
              optional
              hint={t('agents.avatarHint')}
              problem={props.form.problemOf('avatar')}
              value={props.form.fields.avatar}
              onValue={(value) => props.form.change('avatar', value)}
            />
          </div>
        </div>
        <TextArea
          label={t('agents.instructions')}
          optional
          rows={6}
          maxRows={20}
          hint={t('agents.instructionsHint')}
          placeholder={t('agents.instructionsPlaceholder')}
          problem={props.form.problemOf('instructions')}
          value={props.form.fields.instructions}
          onValue={(value) => props.form.change('instructions', value)}
        />
      </div>
    </Panel>
  )
}

export function ModelPanel(props: PanelProps): JSX.Element {
  const models = useModels()
  return (
    <Panel title={t('agents.sections.model')}>
      <div class="flex flex-col gap-4">
        <ModelField
          models={models.data}
          value={props.form.fields.model}
          problem={props.form.problemOf('model')}
          onValue={(value) => props.form.change('model', value)}
        />
        <Show when={props.form.fields.model === null && models.data !== undefined && models.data.defaultModel === null}>
          <p class="flex flex-wrap items-center gap-x-3 rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">
            {t('agents.noDefault')}
            <A href="/models" class="font-medium underline underline-offset-2">
              {t('agents.chooseDefault')}
            </A>
          </p>
        </Show>
        <FallbacksField
          models={models.data}
          value={props.form.fields.fallbacks}
          problem={props.form.problemOf('fallbacks')}
          onValue={(value) => props.form.change('fallbacks', value)}
        />
      </div>
    </Panel>
  )
}

export function LimitsPanel(props: PanelProps): JSX.Element {
  return (
    <Panel
      title={t('agents.sections.limits')}
      description={t('agents.limitsWhy')}
      actions={
        <Show when={LIMIT_FIELDS.some((field) => props.form.fields[field] !== DEFAULT_LIMIT_FIELDS[field])}>
          <Button
            size="sm"
            variant="ghost"
            onClick={() => LIMIT_FIELDS.forEach((field) => props.form.change(field, DEFAULT_LIMIT_FIELDS[field]))}
          >
            {t('agents.resetLimits')}
          </Button>
        </Show>
      }
    >
      <div class="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-4">
        <For each={LIMIT_FIELDS}>
          {(field) => (
            <TextField
              inputMode="decimal"
              label={t(`agents.limits.${field}`)}
              hint={t(`agents.limits.${field}Hint`)}
              problem={props.form.problemOf(field)}
              value={props.form.fields[field]}
              onValue={(value) => props.form.change(field, value)}
            />
          )}
        </For>
      </div>
    </Panel>
  )
}

export function SpendingPanel(props: PanelProps): JSX.Element {
  return (
    <Panel title={t('agents.sections.spendingLimits')} description={t('agents.budgetsWhy')}>
      <div class="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-4">
        <For each={BUDGET_FIELDS}>
          {(field) => (
            <TextField
              inputMode="decimal"
              label={t(`agents.budgets.${field}`)}
              placeholder={t('agents.budgets.none')}
              problem={props.form.problemOf(field)}
              value={props.form.fields[field]}
              onValue={(value) => props.form.change(field, value)}
            />
          )}
        </For>
      </div>
      <Show when={props.agent}>{(agent) => <UnpricedNote agents={[agent()]} />}</Show>
    </Panel>
  )
}
