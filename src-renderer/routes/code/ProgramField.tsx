import { RadioGroup } from '@kobalte/core/radio-group'
import { For, type JSX, Match, Show, Switch } from 'solid-js'
import { CODING_PROGRAM_NAMES, CodingCli, type CodingProgram } from '../../../src-runner/contract/coding-programs.ts'
import type { Loaded } from '../../api/observe.ts'
import { sentenceOf } from '../../api/problem.ts'
import { isUsable, programStateText, programTone } from '../../features/coding/program-state.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { LABEL_CLASS, PROBLEM_CLASS } from '../../ui/field.ts'
import { Pill } from '../../ui/Pill.tsx'

/** What is known of each program. */
export type ProgramAnswers = Record<CodingCli, Loaded<CodingProgram>>

/** Choice of a coding program, each with its state. Below the chosen one stands what to type if it cannot be used. */
export function ProgramField(props: {
  answers: ProgramAnswers
  value: CodingCli | null
  onValue: (cli: CodingCli) => void
  problem: string | null
}): JSX.Element {
  return (
    <RadioGroup
      value={props.value ?? ''}
      onChange={(cli) => props.onValue(cli as CodingCli)}
      validationState={props.problem === null ? 'valid' : 'invalid'}
      class="flex flex-col gap-1.5"
    >
      <RadioGroup.Label class={LABEL_CLASS}>{t('code.form.program')}</RadioGroup.Label>
      <div class="grid grid-cols-2 gap-2 max-sm:grid-cols-1">
        <For each={CodingCli.options}>
          {(cli) => (
            <RadioGroup.Item value={cli} class="relative">
              <RadioGroup.ItemInput class="peer" />
              <RadioGroup.ItemControl class="absolute inset-0 rounded-lg border border-line-strong peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent-ink data-checked:border-accent data-checked:bg-accent-soft" />
              <RadioGroup.ItemLabel class="relative flex min-h-11 items-center justify-between gap-2 rounded-lg px-3 py-2 text-sm text-ink">
                <span class="min-w-0 truncate font-medium">{CODING_PROGRAM_NAMES[cli]}</span>
                <State answer={props.answers[cli]} />
              </RadioGroup.ItemLabel>
            </RadioGroup.Item>
          )}
        </For>
      </div>
      <RadioGroup.ErrorMessage class={PROBLEM_CLASS}>{props.problem}</RadioGroup.ErrorMessage>
      <Show when={props.value}>{(cli) => <Fix name={CODING_PROGRAM_NAMES[cli()]} answer={props.answers[cli()]} />}</Show>
    </RadioGroup>
  )
}

function State(props: { answer: Loaded<CodingProgram> }): JSX.Element {
  return (
    <Switch fallback={<span class="text-xs text-ink-3">{t('settings.coding.checking')}</span>}>
      <Match when={props.answer.data}>{(program) => <Pill tone={programTone(program())}>{programStateText(program())}</Pill>}</Match>
      <Match when={props.answer.error}>
        <Pill tone="warn">{t('common.unknown')}</Pill>
      </Match>
    </Switch>
  )
}

/** What is wrong with the program, and the command that fixes it. Nothing if it can be used. */
function Fix(props: { name: string; answer: Loaded<CodingProgram> }): JSX.Element {
  const { copyText } = useDesktop()
  const why = (): string | null => {
    const program = props.answer.data
    if (program === undefined) return props.answer.error ? sentenceOf(props.answer.error) : null
    if (!program.installed) return t('code.form.notInstalled', { program: props.name })
    if (!isUsable(program)) return t('code.form.broken', { program: props.name })
    return program.signedIn === 'no' ? t('code.form.signedOut', { program: props.name }) : null
  }
  return (
    <Show when={why()}>
      {(text) => (
        <div role="status" class="flex flex-col gap-2 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn">
          <p>{text()}</p>
          <div class="flex flex-wrap items-center gap-2">
            <Show when={props.answer.data?.fix}>
              {(fix) => (
                <span class="inline-flex min-w-0 items-center gap-1">
                  <code class="rounded-md border border-line bg-surface px-2 py-1 font-mono text-xs wrap-anywhere text-ink">{fix()}</code>
                  <CopyButton size="sm" text={fix()} copy={copyText} label={t('settings.coding.copyFix')} />
                </span>
              )}
            </Show>
            <Button size="sm" onClick={() => props.answer.retry()}>
              {t('code.form.again')}
            </Button>
          </div>
        </div>
      )}
    </Show>
  )
}
