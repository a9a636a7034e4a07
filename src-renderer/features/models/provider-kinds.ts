import type { CreateProvider } from '../../../src-runner/contract/providers.ts'

export type AddableKind = CreateProvider['kind']

export const KEY_KINDS = ['anthropic', 'openai', 'google'] as const satisfies AddableKind[]
export const ADDABLE_KINDS: AddableKind[] = [...KEY_KINDS, 'openai-compatible', 'ollama']

/** Where to create an API key. */
export const KEY_PAGES: Partial<Record<AddableKind, string>> = {
  anthropic: 'https://console.anthropic.com/settings/keys',
  openai: 'https://platform.openai.com/api-keys',
  google: 'https://aistudio.google.com/apikey',
}

export function needsKey(kind: AddableKind): boolean {
  return (KEY_KINDS as readonly AddableKind[]).includes(kind)
}
