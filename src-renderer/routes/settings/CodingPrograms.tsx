import { For, type JSX, Match, Show, Switch as Choice } from 'solid-js'
import { CODING_PROGRAM_NAMES, CodingCli, type CodingProgram } from '../../../src-runner/contract/coding-programs.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useCodingProgram } from '../../api/queries.ts'
import { programStateText, programTone } from '../../features/coding/program-state.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row } from '../../ui/Row.tsx'

/** The programs that write code by themselves: whether each is installed and signed in, and the command that fixes it. */
export function CodingPrograms(): JSX.Element {
  const answers = CodingCli.options.map((cli) => ({ cli, answer: useCodingProgram(cli) }))
  return (
    <Panel
      title={t('settings.coding.title')}
      description={t('settings.coding.about')}
      flush
      actions={
        <Button size="sm" onClick={() => answers.forEach(({ answer }) => answer.retry())}>
          {t('settings.tools.sandboxCheck')}
        </Button>
      }
    >
      <For each={answers}>
        {({ cli, answer }) => (
          <Row
            id={`coding-${cli}`}
            label={CODING_PROGRAM_NAMES[cli]}
            hint={<Show when={answer.data}>{(program) => <span class="wrap-anywhere">{hintOf(program())}</span>}</Show>}
          >
            <Choice fallback={<span class="text-sm text-ink-3">{t('settings.coding.checking')}</span>}>
              <Match when={answer.data}>{(program) => <Finding program={program()} />}</Match>
              <Match when={answer.error}>
                <span class="text-sm text-ink-2">{sentenceOf(answer.error)}</span>
              </Match>
            </Choice>
          </Row>
        )}
      </For>
    </Panel>
  )
}

function Finding(props: { program: CodingProgram }): JSX.Element {
  const { copyText } = useDesktop()
  return (
    <>
      <Show when={props.program.fix}>
        {(fix) => (
          <span class="flex min-w-0 items-center gap-1 max-sm:w-full max-sm:justify-between">
            <code class="min-w-0 rounded-md border border-line bg-surface px-2 py-1 font-mono text-xs wrap-anywhere text-ink">{fix()}</code>
            <CopyButton size="sm" text={fix()} copy={copyText} label={t('settings.coding.copyFix')} />
          </span>
        )}
      </Show>
      <Pill tone={programTone(props.program)}>{programStateText(props.program)}</Pill>
    </>
  )
}

function hintOf({ version, path }: CodingProgram): string {
  return [version, path].filter((part) => part !== null).join(' · ')
}
