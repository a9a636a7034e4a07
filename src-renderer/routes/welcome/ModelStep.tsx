import ArrowRight from 'lucide-solid/icons/arrow-right'
import LoaderCircle from 'lucide-solid/icons/loader-circle'
import KeyRound from 'lucide-solid/icons/key-round'
import Play from 'lucide-solid/icons/play'
import Plug from 'lucide-solid/icons/plug'
import Server from 'lucide-solid/icons/server'
import { createEffect, createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import { DEMO_MODEL, type ModelRef } from '../../../src-runner/contract/agents.ts'
import type { FoundServer, Provider } from '../../../src-runner/contract/providers.ts'
import { useAction, useUpdateSettings } from '../../api/mutations.ts'
import { useFoundServers, useModels, useProviders } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { ModelPicker } from '../../features/models/ModelPicker.tsx'
import { preferredModel } from '../../features/models/preferred-model.ts'
import { type DraftProblems, emptyDraft, problemsOf, ProviderFields, requestOf } from '../../features/models/ProviderFields.tsx'
import { type AddableKind, KEY_KINDS } from '../../features/models/provider-kinds.ts'
import { useConnect } from '../../features/models/use-connect.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import type { Icon } from '../../ui/icon.ts'
import { Pill } from '../../ui/Pill.tsx'
import { Select } from '../../ui/Select.tsx'
import { Late } from '../../ui/Skeleton.tsx'
import { StepHead } from './StepHead.tsx'

/** Chooses the default model: servers on this machine first, then API keys, then the demo. */
export function ModelStep(props: { onDone: () => void }) {
  const found = useFoundServers()
  const providers = useProviders()
  const change = useUpdateSettings()
  const [connecting, setConnecting] = createSignal<AddableKind | null>(null)
  const connected = () => (providers.data?.providers ?? []).filter((provider) => provider.origin !== 'built_in')
  const choose = async (model: ModelRef) => {
    try {
      await change.run({ body: { defaultModel: model } })
      props.onDone()
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <>
      <StepHead title={t('welcome.title')} about={t('welcome.about')} />
      <div class="flex flex-col gap-6">
        <div>
          <h2 class="text-lg font-semibold">{t('welcome.model.title')}</h2>
          <p class="text-ink-2">{t('welcome.model.about')}</p>
        </div>
        <Show when={found.isPending}>
          <Late>
            <p role="status" class="flex items-center gap-2 text-xs text-ink-3">
              <LoaderCircle size={14} class="animate-spin" aria-hidden="true" />
              {t('welcome.model.looking')}
            </p>
          </Late>
        </Show>
        <For each={connected()}>{(provider) => <ConnectedProvider provider={provider} onUse={(model) => void choose(model)} />}</For>
        <Show when={(found.data?.servers.length ?? 0) > 0}>
          <Section title={t('welcome.model.found')} note={t('welcome.model.foundNote')}>
            <For each={found.data?.servers}>{(server) => <FoundLine server={server} onUse={(model) => void choose(model)} />}</For>
          </Section>
        </Show>
        <Section title={t('welcome.model.key')} note={t('welcome.model.keyNote')}>
          <div class="grid grid-cols-3 gap-2 max-sm:grid-cols-1">
            <For each={KEY_KINDS}>
              {(kind) => (
                <Choice
                  icon={KeyRound}
                  title={t(`models.form.kinds.${kind}`)}
                  note={t(`models.form.kindNotes.${kind}`)}
                  onClick={() => setConnecting(kind)}
                />
              )}
            </For>
          </div>
          <Choice
            icon={Plug}
            title={t('welcome.model.other')}
            note={t('models.form.kindNotes.openai-compatible')}
            onClick={() => setConnecting('openai-compatible')}
          />
        </Section>
        <div class="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-xl border border-dashed border-line-strong p-4">
          <div class="min-w-56 flex-1">
            <p class="font-medium">{t('welcome.model.demo')}</p>
            <p class="text-xs text-ink-2">{t('welcome.model.demoNote')}</p>
          </div>
          <Button icon={Play} busy={change.isRunning} onClick={() => void choose(DEMO_MODEL)}>
            {t('welcome.model.demoUse')}
          </Button>
        </div>
      </div>
      <Show when={connecting()} keyed>
        {(kind) => <ConnectDialog kind={kind} onClose={() => setConnecting(null)} />}
      </Show>
    </>
  )
}

function Section(props: { title: string; note: string; children: JSX.Element }) {
  return (
    <section class="flex flex-col gap-2">
      <div class="flex flex-wrap items-baseline gap-x-2">
        <h3 class="text-sm font-semibold">{props.title}</h3>
        <p class="text-xs text-ink-3">{props.note}</p>
      </div>
      {props.children}
    </section>
  )
}

function Choice(props: { icon: Icon; title: string; note: string; onClick: () => void }) {
  return (
    <button
      type="button"
      class="flex min-w-0 items-center gap-3 rounded-xl border border-line bg-surface p-3 text-left shadow-card transition-colors duration-100 hover:border-accent-ink"
      onClick={() => props.onClick()}
    >
      <span class="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent-soft text-accent-ink">
        <props.icon size={16} aria-hidden="true" />
      </span>
      <span class="min-w-0">
        {/* Read out as two words, not as one. */}
        <span class="block font-medium">{props.title}</span> <span class="block text-xs text-ink-3">{props.note}</span>
      </span>
    </button>
  )
}

const CARD = 'flex flex-wrap items-end gap-3 rounded-xl border border-line bg-surface p-3 shadow-card'

function FoundLine(props: { server: FoundServer; onUse: (model: ModelRef) => void }) {
  const create = useAction('createProvider')
  const [model, setModel] = createSignal(props.server.models.find((name) => !/embed/i.test(name)) ?? props.server.models[0] ?? null)
  const use = async () => {
    const { kind, name, baseUrl } = props.server
    try {
      const { provider } = await create.run({ body: { kind, name, baseUrl } })
      props.onUse({ providerId: provider.id, model: model()! })
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <div class={CARD}>
      <span class="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent-soft text-accent-ink">
        <Server size={16} aria-hidden="true" />
      </span>
      <div class="min-w-32 flex-1 self-center">
        <p class="truncate font-medium">{props.server.name}</p>
        <p class="truncate text-xs text-ink-3">{props.server.baseUrl}</p>
      </div>
      <Show when={model()} fallback={<p class="w-full text-xs text-ink-2">{t('welcome.model.noModels')}</p>}>
        {(name) => (
          <>
            <Select
              class="w-56 max-sm:w-full"
              label={t('welcome.model.modelsOf', { name: props.server.name })}
              hideLabel
              options={props.server.models.map((one) => ({ value: one, label: one }))}
              value={name()}
              onValue={setModel}
            />
            <Button variant="primary" busy={create.isRunning} onClick={() => void use()}>
              {t('welcome.model.use')}
            </Button>
          </>
        )}
      </Show>
    </div>
  )
}

/** A provider that is already connected. */
function ConnectedProvider(props: { provider: Provider; onUse: (model: ModelRef) => void }) {
  const models = useModels()
  const [chosen, setChosen] = createSignal<ModelRef | null>(null)
  createEffect(() => {
    if (chosen() !== null) return
    const first = preferredModel((models.data?.models ?? []).filter((model) => model.providerId === props.provider.id))
    if (first !== null) setChosen({ providerId: first.providerId, model: first.model })
  })
  const problem = () => {
    const found = models.data?.problems.find((one) => one.providerId === props.provider.id)
    return found === undefined ? undefined : messageText(found.message)
  }
  return (
    <div class="rounded-xl border border-accent-ink bg-surface p-4 shadow-card">
      <div class="flex items-center gap-3 pb-3">
        <Avatar name={props.provider.name} />
        <p class="min-w-0 flex-1 text-sm">
          {problem() === undefined ? t('welcome.model.chooseOne', { provider: props.provider.name }) : props.provider.name}
        </p>
        <Pill tone={problem() === undefined ? 'ok' : 'bad'}>
          {problem() === undefined ? t('welcome.model.connected') : t('models.providers.failed')}
        </Pill>
      </div>
      <Switch>
        <Match when={problem()}>
          {(message) => (
            <p role="alert" class="text-sm text-bad wrap-break-word">
              {message()}
            </p>
          )}
        </Match>
        <Match when={true}>
          <div class="flex items-end gap-3">
            <ModelPicker
              class="flex-1"
              label={t('welcome.model.modelsOf', { name: props.provider.name })}
              hideLabel
              providerId={props.provider.id}
              value={chosen()}
              onValue={setChosen}
            />
            <Button variant="primary" icon={ArrowRight} disabled={chosen() === null} onClick={() => props.onUse(chosen()!)}>
              {t('common.next')}
            </Button>
          </div>
        </Match>
      </Switch>
    </div>
  )
}

/** Connects a provider, which then appears at the top of the step with its models. */
function ConnectDialog(props: { kind: AddableKind; onClose: () => void }) {
  const connect = useConnect()
  const [draft, setDraft] = createSignal(emptyDraft(props.kind))
  const [problems, setProblems] = createSignal<DraftProblems>({})
  const submit = async () => {
    const found = problemsOf(draft(), false)
    setProblems(found)
    if (Object.keys(found).length > 0) return
    if ((await connect.connect(requestOf(draft()))) !== null) props.onClose()
  }
  const cancel = () => {
    void connect.giveUp().catch(toastError)
    props.onClose()
  }
  return (
    <FormDialog
      onClose={cancel}
      title={t('welcome.model.connectTitle', { provider: t(`models.form.kinds.${props.kind}`) })}
      submit={t('models.form.connect')}
      onSubmit={() => void submit()}
      isRunning={connect.isRunning}
    >
      <ProviderFields brief draft={draft()} onDraft={setDraft} problems={problems()} connect={connect} />
    </FormDialog>
  )
}
