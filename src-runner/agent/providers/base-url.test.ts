import { expect, it } from 'vitest'
import { normalizeBaseUrl, runsOnThisMachine } from './base-url.ts'

it.each([
  ['https://api.anthropic.com', '/v1', 'https://api.anthropic.com/v1'],
  ['https://api.anthropic.com/', '/v1', 'https://api.anthropic.com/v1'],
  ['Https://api.anthropic.com', '/v1', 'Https://api.anthropic.com/v1'],
  [' https://api.openai.com/v1/ ', '/v1', 'https://api.openai.com/v1'],
  ['https://gate.example.org/llm/openai', '/v1', 'https://gate.example.org/llm/openai'],
  ['http://127.0.0.1:1234/v1/chat/completions', '', 'http://127.0.0.1:1234/v1'],
  ['http://127.0.0.1:1234/v1/models/', '', 'http://127.0.0.1:1234/v1'],
  ['http://127.0.0.1:8080', '', 'http://127.0.0.1:8080'],
  ['https://host.example.org/v1?key=abc#top', '/v1', 'https://host.example.org/v1'],
  ['', '/v1', ''],
])('takes %j with API path %j for %j', (given, apiPath, expected) => {
  expect(normalizeBaseUrl(given, apiPath)).toBe(expected)
})

it.each([
  ['http://localhost:11434', true],
  ['http://127.8.9.1/v1', true],
  ['http://[::1]:8080/v1', true],
  ['http://models.localhost', true],
  ['http://192.168.0.4:11434', false],
  ['https://localhost.example.org', false],
  ['https://127.0.0.1.example.org', false],
  ['nonsense', false],
])('%s runs on this machine: %s', (url, expected) => {
  expect(runsOnThisMachine(url)).toBe(expected)
})
