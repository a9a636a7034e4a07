import { screen, waitFor } from '@solidjs/testing-library'
import { createSignal } from 'solid-js'
import { describe, expect, it } from 'vitest'
import { renderPart } from '../testing/render.tsx'
import { Markdown } from './Markdown.tsx'

function show(text: string) {
  const [shown, setShown] = createSignal({ text, streaming: false })
  const opened: string[] = []
  const copied: string[] = []
  const view = renderPart(() => (
    <Markdown
      text={shown().text}
      streaming={shown().streaming}
      onOpenLink={(url) => opened.push(url)}
      copy={(code) => {
        copied.push(code)
        return Promise.resolve()
      }}
    />
  ))
  return { ...view, setShown, opened, copied }
}

describe('Markdown of a model', () => {
  it('reports a clicked link instead of following it', async () => {
    const { user, opened } = show('See [the site](https://x.test/page).')
    const link = screen.getByRole('link', { name: 'the site' })
    const followed = new Promise<boolean>((resolve) =>
      window.addEventListener('click', (event) => resolve(!event.defaultPrevented), { once: true }),
    )
    await user.click(link)
    expect(opened).toEqual(['https://x.test/page'])
    expect(await followed).toBe(false)
  })

  it('shows a link instead of an image', () => {
    const { container } = show('![Chart](https://x.test/chart.png?d=secret)')
    expect(container.querySelector('img')).toBeNull()
    expect(screen.getByRole('link', { name: 'Chart' })).toHaveAttribute('href', 'https://x.test/chart.png?d=secret')
  })

  it('copies a block of code, also one inside a list', async () => {
    const { user, copied } = show('```sh\nls -l\n```\n\n- Step:\n\n  ```\n  echo 1\n  ```\n')
    for (const button of screen.getAllByRole('button', { name: 'Copy' })) await user.click(button)
    expect(copied).toEqual(['ls -l', 'echo 1'])
    expect(screen.getByText('sh')).toBeInTheDocument()
  })

  it('grows while it streams and keeps the elements that are finished', async () => {
    const { setShown, container } = show('One **two**')
    setShown({ text: 'One **two**\n\nThr', streaming: true })
    await screen.findByText('Thr')
    const first = container.querySelector('strong')
    setShown({ text: 'One **two**\n\nThree\n\n```js\nlet a', streaming: true })
    await screen.findByText('let a')
    const code = container.querySelector('code')
    setShown({ text: 'One **two**\n\nThree\n\n```js\nlet a = 1\n```', streaming: false })
    await waitFor(() => expect(code).toHaveTextContent('let a = 1'))
    expect(container.querySelector('strong')).toBe(first)
    expect(container.querySelector('code')).toBe(code)
  })

  it('adds no styles and no handlers', () => {
    const { container } = show('# A\n\n| a |\n|:-:|\n| 1 |\n\n<b style="color:red" onclick="x()">b</b>')
    expect(container.querySelectorAll('[style], [onclick]')).toHaveLength(0)
    expect(screen.getByText(/<b style/)).toBeInTheDocument()
  })

  it.each([
    ['characters', 'y'.repeat(400_001)],
    ['lines', '\ny'.repeat(20_000)],
    ['lines of an old Mac', '\ry'.repeat(20_000)],
    ['lines of Windows', '\r\ny'.repeat(20_000)],
  ])('shows a text of very many %s as it is', (_, rest) => {
    const { container } = show(`**x** ${rest}`)
    expect(container.querySelector('strong')).toBeNull()
  })

  it('counts a line of Windows once', () => {
    const { container } = show(`**x** ${'\r\n'.repeat(15_000)}`)
    expect(container.querySelector('strong')).not.toBeNull()
  })
})
