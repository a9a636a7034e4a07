import { expect, it } from 'vitest'
import type { ProviderKind } from '../../../src-runner/contract/providers.ts'
import { makeModel } from '../../testing/things.ts'
import { preferredModel } from './preferred-model.ts'

const of = (providerKind: ProviderKind, ...names: string[]) =>
  preferredModel(names.map((model) => makeModel({ providerKind, model })))?.model ?? null

it.each<[ProviderKind, string[], string | null]>([
  [
    'anthropic',
    ['claude-haiku-4-5', 'claude-opus-4-1', 'claude-sonnet-4-20250514', 'claude-sonnet-4-5-20250929'],
    'claude-sonnet-4-5-20250929',
  ],
  ['openai', ['text-embedding-3-large', 'gpt-4o', 'gpt-5-mini', 'gpt-5', 'gpt-5.2', 'gpt-5.2-chat-latest', 'whisper-1'], 'gpt-5.2'],
  ['google', ['gemini-embedding-001', 'gemini-2.5-flash', 'gemini-2.5-pro', 'imagen-4'], 'gemini-2.5-pro'],
  ['ollama', ['nomic-embed-text:latest', 'qwen3:8b', 'llama3.2:3b'], 'qwen3:8b'],
  ['ollama', ['nomic-embed-text:latest'], 'nomic-embed-text:latest'],
  ['openai-compatible', [], null],
])('offers of %s %j: %s', (kind, names, expected) => {
  expect(of(kind, ...names)).toBe(expected)
})
