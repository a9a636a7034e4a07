import { createSignal, Show } from 'solid-js'
import type { Model } from '../../../src-runner/contract/providers.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { fieldText, readNumber } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Reads a price of at most a million dollars. Returns null for anything else. */
export function readAmount(text: string): number | null {
  const amount = readNumber(text, locale())
  return amount >= 0 && amount <= 1_000_000 ? amount : null
}

export function PriceDialog(props: { model: Model; onClose: () => void }) {
  const setPrice = useAction('setModelPrice')
  const start = props.model.price
  const [input, setInput] = createSignal(fieldText(start?.inputUsdPerMillion, locale()))
  const [output, setOutput] = createSignal(fieldText(start?.outputUsdPerMillion, locale()))
  const [cached, setCached] = createSignal(fieldText(start?.cachedInputUsdPerMillion, locale()))
  const [wasTried, setTried] = createSignal(false)
  const problem = (value: string) => (wasTried() && readAmount(value) === null ? t('models.price.notANumber') : null)
  const problemOfCached = () => (cached().trim() === '' ? null : problem(cached()))
  const ref = { providerId: props.model.providerId, model: props.model.model }

  const put = (price: Parameters<typeof setPrice.run>[0]['body']['price']) =>
    setPrice.run({ body: { model: ref, price } }).then(props.onClose, () => undefined)
  const save = () => {
    setTried(true)
    const inputUsdPerMillion = readAmount(input())
    const outputUsdPerMillion = readAmount(output())
    const cachedInputUsdPerMillion = cached().trim() === '' ? undefined : readAmount(cached())
    if (inputUsdPerMillion === null || outputUsdPerMillion === null || cachedInputUsdPerMillion === null) return
    // The known price says more than these fields, such as what long prompts cost.
    const isSame =
      inputUsdPerMillion === start?.inputUsdPerMillion &&
      outputUsdPerMillion === start.outputUsdPerMillion &&
      (cachedInputUsdPerMillion ?? inputUsdPerMillion) === start.cachedInputUsdPerMillion
    if (isSame) return props.onClose()
    void put({ inputUsdPerMillion, outputUsdPerMillion, cachedInputUsdPerMillion })
  }
  return (
    <FormDialog
      size="sm"
      onClose={props.onClose}
      title={t('models.price.title', { model: props.model.label })}
      description={t('models.price.why')}
      submit={t('common.save')}
      onSubmit={save}
      isRunning={setPrice.isRunning}
      aside={
        <Show when={props.model.priceOrigin === 'user'}>
          <Button variant="ghost" class="mr-auto" onClick={() => void put(null)}>
            {t('models.price.reset')}
          </Button>
        </Show>
      }
    >
      <div class="grid grid-cols-2 gap-4">
        <TextField label={t('models.price.input')} inputMode="decimal" value={input()} onValue={setInput} problem={problem(input())} />
        <TextField label={t('models.price.output')} inputMode="decimal" value={output()} onValue={setOutput} problem={problem(output())} />
      </div>
      <TextField
        label={t('models.price.cached')}
        optional
        inputMode="decimal"
        value={cached()}
        onValue={setCached}
        hint={t('models.price.cachedHint')}
        problem={problemOfCached()}
      />
      <Show when={setPrice.error}>
        {(error) => (
          <p role="alert" class="text-sm text-bad">
            {sentenceOf(error())}
          </p>
        )}
      </Show>
    </FormDialog>
  )
}
