import './markdown.css'
import { createEffect, createRenderEffect, createSignal, Index, type JSX, onCleanup, Show } from 'solid-js'
import { render } from 'solid-js/web'
import { t } from '../lib/language.ts'
import { CopyButton } from './CopyButton.tsx'
import { createMarkdownBlocks, type MarkdownBlock } from './markdown-blocks.ts'
import { sanitiseHtml } from './sanitise-html.ts'

export type MarkdownProps = {
  text: string
  /** More may come: the text is drawn once a frame at most, and only its last block again. */
  streaming?: boolean
  /** An http or https address that somebody pressed. Whoever opens it asks first. */
  onOpenLink: (url: string) => void
  copy: (text: string) => Promise<void>
}

/** Above either a text is shown as it is: reading it as Markdown would hold up the page. */
const MAX_MARKDOWN_CHARS = 400_000
const MAX_MARKDOWN_LINES = 20_000

function isTooLong(text: string): boolean {
  if (text.length > MAX_MARKDOWN_CHARS) return true
  const lineEnd = /\r\n?|\n/g
  let lines = 1
  while (lines <= MAX_MARKDOWN_LINES && lineEnd.test(text)) lines++
  return lines > MAX_MARKDOWN_LINES
}

/** Untrusted Markdown. Links and code blocks work, nothing is fetched, nothing of it runs. */
export function Markdown(props: MarkdownProps): JSX.Element {
  return (
    <Show when={!isTooLong(props.text)} fallback={<div class="md whitespace-pre-wrap">{props.text}</div>}>
      <MarkdownText {...props} />
    </Show>
  )
}

function MarkdownText(props: MarkdownProps): JSX.Element {
  const parser = createMarkdownBlocks()
  const [blocks, setBlocks] = createSignal<readonly MarkdownBlock[]>(parser.update(props.text, !props.streaming))
  let frame: number | undefined
  let mayDrawAt = 0

  function draw(): void {
    frame = undefined
    const from = performance.now()
    if (props.streaming && from < mayDrawAt) {
      frame = requestAnimationFrame(draw)
      return
    }
    setBlocks(parser.update(props.text, !props.streaming))
    // A last block that is slow to read may take a quarter of the time, not all of it.
    const tookMs = performance.now() - from
    mayDrawAt = performance.now() + 3 * tookMs
  }

  createEffect((first: boolean) => {
    const streaming = props.streaming
    void props.text
    if (first) return false
    if (!streaming) {
      if (frame !== undefined) cancelAnimationFrame(frame)
      draw()
    } else {
      frame ??= requestAnimationFrame(draw)
    }
    return false
  }, true)
  onCleanup(() => {
    if (frame !== undefined) cancelAnimationFrame(frame)
  })

  function press(event: MouseEvent): void {
    const target = event.target as Element
    const link = target.closest<HTMLAnchorElement>('a[href]')
    if (link !== null) {
      event.preventDefault()
      if (event.type === 'click' || event.button === 1) props.onOpenLink(link.href)
    }
  }

  return (
    <div class="md" onClick={press} onAuxClick={press}>
      <Index each={blocks()}>
        {(block) => (
          <Show when={codeOf(block())} fallback={<HtmlBlock html={htmlOf(block())} copy={props.copy} />}>
            {(code) => <CodeBlock lang={code().lang} text={code().text} copy={props.copy} />}
          </Show>
        )}
      </Index>
    </div>
  )
}

function codeOf(block: MarkdownBlock): Extract<MarkdownBlock, { kind: 'code' }> | undefined {
  return block.kind === 'code' ? block : undefined
}

function htmlOf(block: MarkdownBlock): string {
  return block.kind === 'html' ? block.html : ''
}

function HtmlBlock(props: { html: string; copy: (text: string) => Promise<void> }): JSX.Element {
  const box = (<div />) as HTMLDivElement
  createRenderEffect(() => {
    const fragment = sanitiseHtml(props.html)
    for (const pre of fragment.querySelectorAll('pre')) pre.replaceWith(copyable(pre, props.copy))
    for (const table of fragment.querySelectorAll('table')) table.replaceWith(scrollable(table))
    box.replaceChildren(fragment)
  })
  return box
}

/** Wide parts scroll by themselves, with the keyboard too. */
function scrollable(table: HTMLTableElement): HTMLElement {
  const box = document.createElement('div')
  box.className = 'md-table'
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', t('markdown.table'))
  box.append(table.cloneNode(true))
  return box
}

/** Code inside a list or a quotation. */
function copyable(pre: HTMLPreElement, copy: (text: string) => Promise<void>): HTMLElement {
  const code = pre.querySelector('code') ?? pre
  const lang = /language-(\S+)/.exec(code.className)?.[1] ?? ''
  const text = (code.textContent ?? '').replace(/\n$/, '')
  const box = document.createElement('div')
  onCleanup(render(() => <CodeBlock lang={lang} text={text} copy={copy} />, box))
  return box
}

function CodeBlock(props: { lang: string; text: string; copy: (text: string) => Promise<void> }): JSX.Element {
  return (
    <div class="md-code">
      <div class="md-code-head">
        <span>{props.lang === '' ? t('markdown.code') : props.lang}</span>
        <CopyButton text={() => props.text} copy={props.copy} size="sm" />
      </div>
      <pre tabIndex={0} role="group" aria-label={t('markdown.code')}>
        <code>{props.text}</code>
      </pre>
    </div>
  )
}
