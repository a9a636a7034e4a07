import { createMemo, createSignal, type JSX, Show } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import {
  CODE_CALLS,
  COMMAND_NETWORK,
  CONNECTED_READ,
  type CreateRule,
  type RuleEffect,
  type RuleText,
  type ToolInfo,
} from '../../../src-runner/contract/rules.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { ruleSentence, wholeRuleSentence } from './rule-sentence.ts'

const EVERYONE = 'everyone'
type RuleFields = { effect: RuleEffect; tool: string; pattern: string; folder: string; agentId: string }

const EFFECTS: RuleEffect[] = ['allow', 'ask', 'deny']

/** The form for a new rule, with a preview of its sentence. `agent` is set on that agent's page. */
export function RuleForm(props: {
  agents: readonly Agent[]
  tools: readonly ToolInfo[]
  agent: Agent | null
  first?: Partial<RuleText>
  onDone: () => void
}): JSX.Element {
  const create = useAction('createRule')
  const [form, setForm] = createStore<RuleFields>({
    effect: 'ask',
    tool: '*',
    pattern: '',
    folder: '',
    agentId: props.agent?.id ?? EVERYONE,
    ...textFields(props.first),
  })
  const [thrown, setThrown] = createSignal<unknown>(null)
  const rule = createMemo((): RuleText => ({
    effect: form.effect,
    tool: form.tool,
    pattern: form.pattern.trim() === '' ? null : form.pattern.trim(),
    folder: form.folder.trim() === '' ? null : form.folder.trim(),
    agentId: form.agentId === EVERYONE ? null : form.agentId,
  }))
  const toolOptions = createMemo(() => [
    { value: '*', label: t('rules.anyTool') },
    ...props.tools.filter(({ name }) => !isCodeCall(name)).map(({ name }) => ({ value: name, label: name })),
    { value: COMMAND_NETWORK, label: t('rules.network') },
    { value: CONNECTED_READ, label: t('rules.connectedRead') },
    ...CODE_CALLS.map((name) => ({ value: name, label: t(`rules.codeCalls.${name}`) })),
  ])
  const agentName = (id: string) => props.agents.find((agent) => agent.id === id)?.name ?? props.agent?.name ?? ''
  const save = async () => {
    setThrown(null)
    try {
      await create.run({ body: rule() satisfies CreateRule })
      toast({ text: t('rules.saved') })
      props.onDone()
    } catch (problem) {
      setThrown(problem)
    }
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return props.onDone()
    if (event.key !== 'Enter' || event.isComposing) return
    // On an agent's page, Enter would save the agent's form around this one.
    event.preventDefault()
    void save()
  }
  const known = () => ['pattern', 'folder', 'tool', 'agentId'].some((field) => issueOf(thrown(), field) !== null)
  return (
    <div role="group" aria-label={t('rules.add')} class="flex flex-col gap-3 rounded-lg border border-line bg-inset p-3.5">
      <div class="flex flex-wrap items-center gap-x-4 gap-y-2">
        <SegmentedControl
          label={t('rules.effect')}
          options={EFFECTS.map((value) => ({ value, label: t(`rules.effects.${value}`) }))}
          value={form.effect}
          onValue={(value) => setForm('effect', value)}
        />
        <span class="text-xs text-ink-3">{t(`rules.effectText.${form.effect}`)}</span>
      </div>
      <div class="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Select
          label={t('rules.tool')}
          options={toolOptions()}
          value={form.tool}
          onValue={(value) => setForm('tool', value)}
          problem={issueOf(thrown(), 'tool')}
        />
        <Select
          label={t('rules.who')}
          options={[
            { value: EVERYONE, label: t('rules.everyone') },
            ...(props.agent === null ? props.agents : [props.agent]).map((agent) => ({ value: agent.id, label: agent.name })),
          ]}
          value={form.agentId}
          onValue={(value) => setForm('agentId', value)}
        />
        <TextField
          mono
          optional
          label={t('rules.pattern')}
          hint={t('rules.patternHint')}
          placeholder={t('rules.patternPlaceholder')}
          problem={issueOf(thrown(), 'pattern')}
          value={form.pattern}
          onValue={(value) => setForm('pattern', value)}
          onKeyDown={onKey}
        />
        <TextField
          mono
          optional
          label={t('rules.folder')}
          hint={t('rules.folderHint')}
          placeholder={t('rules.folderPlaceholder')}
          problem={issueOf(thrown(), 'folder')}
          value={form.folder}
          onValue={(value) => setForm('folder', value)}
          onKeyDown={onKey}
        />
      </div>
      <p class="text-sm" role="status">
        <span class="text-ink-3">{t('rules.preview')}:</span>{' '}
        <span class="font-medium wrap-anywhere text-ink">
          {props.agent === null || rule().agentId === null ? wholeRuleSentence(rule(), agentName(form.agentId)) : ruleSentence(rule())}
        </span>
      </p>
      <Show when={thrown() !== null && !known()}>
        <p role="alert" class="text-sm text-bad">
          {sentenceOf(thrown())}
        </p>
      </Show>
      <div class="flex gap-2">
        <Button variant="primary" busy={create.isRunning} onClick={() => void save()}>
          {t('rules.save')}
        </Button>
        <Button onClick={() => props.onDone()}>{t('common.cancel')}</Button>
      </div>
    </div>
  )
}

function textFields(first: Partial<RuleText> | undefined): Partial<RuleFields> {
  if (first === undefined) return {}
  return { effect: first.effect ?? 'ask', tool: first.tool ?? '*', pattern: first.pattern ?? '', folder: first.folder ?? '' }
}

/** They have words of their own. */
function isCodeCall(name: string): boolean {
  return CODE_CALLS.some((call) => call === name)
}
