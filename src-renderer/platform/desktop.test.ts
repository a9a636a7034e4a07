import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createBrowserDesktop } from './desktop.ts'

// As on a page that is read over plain http from another machine.
beforeEach(() => void Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }))
afterEach(() => {
  document.body.replaceChildren()
  Reflect.deleteProperty(navigator, 'clipboard')
  Reflect.deleteProperty(document, 'execCommand')
})

it('copies within the dialog that holds the focus, and gives the focus back', async () => {
  document.body.innerHTML = '<div role="dialog"><button>Copy</button></div>'
  const [dialog, button] = [document.querySelector('div')!, document.querySelector('button')!]
  button.focus()
  let copied: string | undefined
  document.execCommand = vi.fn(() => {
    const area = dialog.querySelector('textarea')!
    copied = area.value.slice(area.selectionStart, area.selectionEnd)
    return true
  })
  await createBrowserDesktop().copyText('the secret')
  expect(copied).toBe('the secret')
  expect(document.querySelector('textarea')).toBeNull()
  expect(document.activeElement).toBe(button)
})

it('says when the browser did not copy', async () => {
  document.execCommand = vi.fn(() => false)
  await expect(createBrowserDesktop().copyText('the secret')).rejects.toThrow('did not copy')
})
