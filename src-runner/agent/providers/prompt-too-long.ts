import { positiveInteger } from '../../lib/json-values.ts'

/** The numbers in a refusal for length. */
export type TooLong = { windowTokens: number | null; promptTokens: number | null }

type Numbers = { form: RegExp; window: 1 | 2; prompt: 1 | 2 | null }

/** Where the numbers are in a refusal. */
const NUMBERS: readonly Numbers[] = [
  // Anthropic: "prompt is too long: 208310 tokens > 200000 maximum".
  { form: /prompt is too long: (\d+) tokens? > (\d+)/, window: 2, prompt: 1 },
  // Anthropic, with room for the answer.
  { form: /exceed context limit: (\d+) \+ \d+ > (\d+)/, window: 2, prompt: 1 },
  // Google: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
  { form: /input token count \(?(\d+)\)? exceeds the maximum number of tokens allowed \(?(\d+)/, window: 2, prompt: 1 },
  // OpenAI's chat completions and all versions of vLLM.
  {
    form: /maximum context length is (\d+) tokens.{0,80}?(?:resulted in|\(|has|contains at least) ?(\d+) (?:tokens|in the messages|input tokens|output tokens)/s,
    window: 1,
    prompt: 2,
  },
  { form: /maximum context length is (\d+) tokens/, window: 1, prompt: null },
  // OpenAI's responses: "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens."
  { form: /configured limit of (\d+) tokens.{0,80}?resulted in (\d+)/s, window: 1, prompt: 2 },
  // llama.cpp: "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it".
  { form: /\((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/, window: 2, prompt: 1 },
  // Two versions of LM Studio.
  { form: /keep the first (\d+) tokens.{0,120}?context length of only (\d+)/s, window: 2, prompt: 1 },
  { form: /n_keep \((\d+)\) >= n_ctx \((\d+)\)/, window: 2, prompt: 1 },
  // Limits per minute, of OpenAI and Groq: "Limit 10000, Requested 12000".
  { form: /request too large.*limit:? (\d+).*requested:? (\d+)/s, window: 1, prompt: 2 },
]

const WORDS =
  /context_length_exceeded|exceed_context_size|request_too_large|(prompt|input) is too long|exceeds? (the )?(available )?context (size|limit|length|window)|input (length |tokens )?exceeds? (the |your |this model's )?(context|configured limit)|context size has been exceeded|context the overflows|n_keep \(\d+\) >= n_ctx|input token count .{0,40}exceeds the maximum number of tokens|exceeds the context (window|length)/

/** null: the prompt was not too long. Some servers use a status that means something else. */
export function readTooLong(status: number, words: string, body: string): TooLong | null {
  const isMuchAtOnce = (status === 429 || status === 413) && /request too large.*limit:? \d+.*requested:? \d+/s.test(words)
  if (!isMuchAtOnce && !saysTooLong(status, words)) return null
  const fields = numbersIn(body)
  if (fields !== null) return fields
  for (const { form, window, prompt } of NUMBERS) {
    const found = form.exec(words)
    if (found === null) continue
    return { windowTokens: tokensIn(found[window]), promptTokens: prompt === null ? null : tokensIn(found[prompt]) }
  }
  return { windowTokens: null, promptTokens: null }
}

function saysTooLong(status: number, words: string): boolean {
  if (status !== 400 && status !== 413 && status !== 422 && status !== 500) return false
  if (WORDS.test(words)) return true
  return (
    /(maximum context|context (length|size|window)|token (count|limit)|too many tokens).{0,200}(exceed|larger|longer|maximum|is \d|of \d)/s.test(
      words,
    ) ||
    (status === 413 && words.trim() !== '')
  )
}

/** llama.cpp has fields for them. Ollama, which runs it, quotes its error as text. */
function numbersIn(body: string): TooLong | null {
  const text = body.replaceAll('\\', '')
  const window = /"n_ctx":\s*(\d+)/.exec(text)
  const prompt = /"n_prompt_tokens":\s*(\d+)/.exec(text)
  return window === null ? null : { windowTokens: tokensIn(window[1]), promptTokens: tokensIn(prompt?.[1]) }
}

function tokensIn(digits: string | undefined): number | null {
  return positiveInteger(Number(digits))
}
