import { createSignal } from 'solid-js'
import type { CreateProvider, Model, Provider } from '../../../src-runner/contract/providers.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { toast } from '../../ui/Toasts.tsx'
import { needsKey } from './provider-kinds.ts'

export type Connected = { provider: Provider; models: Model[] }
/** The provider is stored, but it did not accept the key or the address. */
export type NotAccepted = { provider: Provider; message: string }

/**
 * Adds a provider and fetches its models at once, so that a mistyped key is noticed here and not in the first job. Another
 * try changes the stored provider instead of adding a second one.
 */
export function useConnect() {
  const { client } = useApi()
  const [isRunning, setRunning] = createSignal(false)
  const [error, setError] = createSignal<unknown>(null)
  /** What an unfinished try has stored. */
  let stored: Provider | undefined
  const [notAccepted, setNotAccepted] = createSignal<NotAccepted | null>(null)

  const store = async (request: CreateProvider, known: Provider | undefined): Promise<Provider> => {
    if (known === undefined) return (await client.call('createProvider', { body: request })).provider
    const { name, baseUrl, apiKey } = request
    // An empty field leaves the key of a provider that was there before. A key that an earlier try has stored goes.
    const noKey = known === stored && !needsKey(request.kind) ? null : undefined
    const { provider, keyRemoved } = await client.call('updateProvider', {
      params: { providerId: known.id },
      body: { name, baseUrl: baseUrl ?? null, apiKey: apiKey ?? noKey },
    })
    if (keyRemoved) toast({ tone: 'bad', text: t('models.form.keyRemoved', { name: provider.name }) })
    return provider
  }

  return {
    get isRunning() {
      return isRunning()
    },
    /** The error of the last try, or null. */
    get error() {
      return error()
    },
    get notAccepted() {
      return notAccepted()
    },
    /** Returns null when the provider did not accept it, or on an error; see the fields above. */
    async connect(request: CreateProvider, existing?: Provider): Promise<Connected | null> {
      const known = existing ?? (stored?.kind === request.kind ? stored : undefined)
      setRunning(true)
      setError(null)
      try {
        const provider = await store(request, known)
        if (existing === undefined) stored = provider
        const check = await client.call('checkProvider', { params: { providerId: provider.id } })
        if (!check.ok) {
          setNotAccepted({ provider, message: messageText(check.message) })
          return null
        }
        setNotAccepted(null)
        const { models } = await client.call('listModels')
        stored = undefined
        return { provider, models: models.filter((model) => model.providerId === provider.id) }
      } catch (thrown) {
        setError(thrown)
        return null
      } finally {
        setRunning(false)
      }
    },
    /** Deletes the provider that an abandoned try has stored. */
    async giveUp(): Promise<void> {
      const abandoned = stored
      stored = undefined
      setNotAccepted(null)
      setError(null)
      if (abandoned !== undefined) await client.call('deleteProvider', { params: { providerId: abandoned.id } })
    },
    /** Keeps the stored provider although it did not accept the key. */
    keep(): void {
      stored = undefined
      setNotAccepted(null)
    },
  }
}

export type Connect = ReturnType<typeof useConnect>
