import { useNavigate } from '@solidjs/router'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../../src-runner/contract/agents.ts'
import { useAction } from '../../../api/mutations.ts'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { Fold } from '../../../ui/Fold.tsx'
import { FormDialog } from '../../../ui/FormDialog.tsx'
import { FormProblem } from '../../../features/forms/FormProblem.tsx'
import { bodyOf, type ServerDraft, transportOf } from './server-draft.ts'
import { ReachFields, SecretFields, ServerFields } from './ServerFields.tsx'
import { WhatRuns } from './WhatRuns.tsx'

/** Exactly what will run, the secrets that it needs, what it may reach, and which agents get its tools. */
export function ReviewServer(props: {
  draft: ServerDraft
  agents: readonly Agent[]
  firstAgentId: string | undefined
  onBack: () => void
  onClose: () => void
}): JSX.Element {
  const navigate = useNavigate()
  const create = useAction('createMcpServer')
  const [granted, setGranted] = createSignal<readonly string[]>(props.firstAgentId === undefined ? [] : [props.firstAgentId])
  const isEmpty = () => (props.draft.fields.kind === 'stdio' ? props.draft.fields.command : props.draft.fields.url).trim() === ''
  // Typed by hand, it is edited from the start; a pasted one is read first.
  const isManual = isEmpty()
  const add = async () => {
    const { name, ...rest } = bodyOf(props.draft.fields)
    try {
      const { server } = await create.run({
        body: { ...rest, ...(name !== '' && { name }), agents: granted().map((agentId) => ({ agentId, tools: null })) },
      })
      props.onClose()
      navigate(`/connections/mcp/${server.id}`)
    } catch {
      // The form shows the error.
    }
  }
  return (
    <FormDialog
      size="lg"
      title={t('connections.mcp.review.title')}
      description={t('connections.mcp.review.about')}
      submit={t('connections.mcp.review.add')}
      onSubmit={() => void add()}
      isRunning={create.isRunning}
      cancel={<Button onClick={() => props.onBack()}>{t('common.back')}</Button>}
      onClose={props.onClose}
    >
      <Show
        when={isManual}
        fallback={
          <>
            <section aria-label={t('connections.mcp.runs.title')} class="rounded-lg border border-line bg-inset px-4 py-3">
              <WhatRuns transport={transportOf(props.draft.fields)} />
            </section>
            <Fold label={t('connections.mcp.review.edit')}>
              <div class="flex flex-col gap-4 pt-2">
                <ServerFields draft={props.draft} error={create.error} />
              </div>
            </Fold>
          </>
        }
      >
        <ServerFields draft={props.draft} error={create.error} />
      </Show>
      <SecretFields draft={props.draft} />
      <ReachFields draft={props.draft} error={create.error} />
      <fieldset class="flex flex-col gap-2">
        <legend class="mb-1 text-sm font-medium text-ink">{t('connections.mcp.review.agents')}</legend>
        <For each={props.agents}>
          {(agent) => (
            <Checkbox
              label={visibleText(agent.name)}
              checked={granted().includes(agent.id)}
              onChecked={(on) => setGranted((all) => (on ? [...all, agent.id] : all.filter((id) => id !== agent.id)))}
            />
          )}
        </For>
      </fieldset>
      <FormProblem error={create.error} />
    </FormDialog>
  )
}
