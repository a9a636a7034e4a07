import KeyRound from 'lucide-solid/icons/key-round'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { AccessToken } from '../../../src-runner/contract/tokens.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useTokens } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { Time } from '../../ui/Time.tsx'
import { UnsavedGuard } from '../../ui/UnsavedGuard.tsx'

const DAY_MS = 24 * 3_600_000
const LIFETIMES = ['30', '90', '365', 'never'] as const
type Lifetime = (typeof LIFETIMES)[number]
/** A token that was just created, with the name of its record. */
type Fresh = { name: string; token: string }

export function AccessTokens() {
  const may = useMay()
  return (
    <Show
      when={may('listTokens')}
      fallback={
        <Panel title={t('settings.tokens.title')} description={t('settings.tokens.about')}>
          <p class="text-sm text-ink-3">{t('settings.ownersOnly')}</p>
        </Panel>
      }
    >
      <Tokens />
    </Show>
  )
}

function Tokens() {
  const answer = useTokens()
  const [isCreating, setCreating] = createSignal(false)
  /** Each is shown until the person is done with it, even when they create another. */
  const [fresh, setFresh] = createSignal<readonly Fresh[]>([])
  const [revoked, setRevoked] = createSignal<AccessToken | null>(null)
  const revoke = useAction('revokeToken')
  return (
    <>
      <For each={fresh()}>{(one) => <FreshToken fresh={one} onDone={() => setFresh((all) => all.filter((other) => other !== one))} />}</For>
      <div id="access-tokens" class="scroll-mt-6 outline-none">
        <Panel
          title={t('settings.tokens.title')}
          description={t('settings.tokens.about')}
          flush
          actions={
            <Button size="sm" onClick={() => setCreating(true)}>
              {t('settings.tokens.create')}
            </Button>
          }
        >
          <Show
            when={answer.data}
            fallback={
              <div class="p-4">
                <AnswerState compact rows={2} answer={answer} />
              </div>
            }
          >
            {(data) => (
              <div class="border-t border-line">
                <Show when={!data().accepted}>
                  <RowFrame>
                    <p class="text-sm text-ink-2">{t('settings.tokens.notAccepted')}</p>
                  </RowFrame>
                </Show>
                <For
                  each={data().tokens}
                  fallback={
                    <RowFrame>
                      <p class="text-sm text-ink-3">{t('settings.tokens.none')}</p>
                    </RowFrame>
                  }
                >
                  {(token) => (
                    <Row label={token.name} hint={<Facts token={token} />}>
                      <Button
                        size="sm"
                        aria-label={t('settings.tokens.revokeNamed', { name: token.name })}
                        onClick={() => setRevoked(token)}
                      >
                        {t('settings.tokens.revoke')}
                      </Button>
                    </Row>
                  )}
                </For>
              </div>
            )}
          </Show>
        </Panel>
      </div>
      <Show when={isCreating()}>
        <CreateDialog onClose={() => setCreating(false)} onCreated={(one) => setFresh((all) => [...all, one])} />
      </Show>
      <ConfirmDialog
        open={revoked() !== null}
        onClose={() => setRevoked(null)}
        title={t('settings.tokens.revokeTitle', { name: revoked()?.name ?? '' })}
        confirm={t('settings.tokens.revoke')}
        tone="bad"
        onConfirm={() => revoke.run({ params: { tokenId: revoked()!.id } })}
        describeError={sentenceOf}
      >
        {t('settings.tokens.revokeWhy')}
      </ConfirmDialog>
    </>
  )
}

/** What a person recognizes a token by, and whether it is still used. */
function Facts(props: { token: AccessToken }): JSX.Element {
  const isOver = () => props.token.expiresAt !== null && props.token.expiresAt <= Date.now()
  return (
    <span class="flex flex-wrap gap-x-3">
      <code class="font-mono">{props.token.hint}…</code>
      <span>{props.token.entityName}</span>
      <Show when={props.token.lastUsedAt} fallback={<span>{t('settings.tokens.neverUsed')}</span>}>
        {(at) => (
          <span>
            {t('settings.tokens.lastUsed')} <Time at={at()} />
          </span>
        )}
      </Show>
      <Show when={props.token.expiresAt} fallback={<span>{t('settings.tokens.neverExpires')}</span>}>
        {(at) => (
          <span class={isOver() ? 'text-bad' : ''}>
            {isOver() ? t('settings.tokens.expired') : t('settings.tokens.expires')} <Time at={at()} />
          </span>
        )}
      </Show>
    </span>
  )
}

function CreateDialog(props: { onClose: () => void; onCreated: (fresh: Fresh) => void }) {
  const create = useAction('createToken')
  const [name, setName] = createSignal('')
  const [lifetime, setLifetime] = createSignal<Lifetime>('90')
  const [wasTried, setTried] = createSignal(false)
  const problem = () => (wasTried() && name().trim() === '' ? t('settings.tokens.nameMissing') : null)
  const submit = async () => {
    setTried(true)
    if (problem() !== null) return
    const expiresAt = lifetime() === 'never' ? null : Date.now() + Number(lifetime()) * DAY_MS
    try {
      const { token, accessToken } = await create.run({ body: { name: name(), expiresAt } })
      props.onCreated({ token, name: accessToken.name })
      props.onClose()
    } catch {
      // Shown below the fields.
    }
  }
  return (
    <FormDialog
      size="sm"
      onClose={props.onClose}
      title={t('settings.tokens.createTitle')}
      description={t('settings.tokens.reaches')}
      submit={t('settings.tokens.create')}
      onSubmit={() => void submit()}
      isRunning={create.isRunning}
    >
      <TextField
        isFirst
        label={t('settings.tokens.name')}
        hint={t('settings.tokens.nameHint')}
        maxLength={120}
        value={name()}
        onValue={setName}
        problem={problem()}
      />
      <Select
        label={t('settings.tokens.lifetime')}
        options={LIFETIMES.map((value) => ({ value, label: t(`settings.tokens.lifetimes.${value}`) }))}
        value={lifetime()}
        onValue={setLifetime}
      />
      <Show when={create.error}>
        {(error) => (
          <p role="alert" class="text-sm text-bad">
            {sentenceOf(error())}
          </p>
        )}
      </Show>
    </FormDialog>
  )
}

/** The token is shown only this once. */
function FreshToken(props: { fresh: Fresh; onDone: () => void }) {
  const desktop = useDesktop()
  const [wasCopied, setCopied] = createSignal(false)
  const copy = async (text: string) => {
    await desktop.copyText(text)
    setCopied(true)
  }
  return (
    <section
      aria-label={t('settings.tokens.freshTitle', { name: props.fresh.name })}
      class="flex flex-col gap-3 rounded-xl border border-accent-ink bg-accent-soft p-4"
    >
      <header class="flex flex-wrap items-start gap-3">
        <span class="mt-0.5 text-accent-ink">
          <KeyRound size={17} aria-hidden="true" />
        </span>
        <div class="min-w-0 flex-1 basis-48">
          <h2 class="text-sm font-semibold text-ink">{t('settings.tokens.freshTitle', { name: props.fresh.name })}</h2>
          <p class="text-sm text-ink-2">{t('settings.tokens.freshOnce')}</p>
        </div>
        <Button size="sm" onClick={() => props.onDone()}>
          {t('settings.tokens.done')}
        </Button>
      </header>
      <div class="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface py-1.5 pr-1.5 pl-3">
        <code class="min-w-0 flex-1 basis-64 font-mono text-xs wrap-anywhere text-ink select-all">{props.fresh.token}</code>
        <CopyButton show="text" size="sm" text={props.fresh.token} copy={copy} label={t('settings.tokens.copy')} />
      </div>
      <UnsavedGuard isDirty={() => !wasCopied()} title={t('settings.tokens.leaveTitle')} leave={t('settings.tokens.leaveNow')}>
        {t('settings.tokens.leaveText')}
      </UnsavedGuard>
    </section>
  )
}
