import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library'
import { createSignal, Show } from 'solid-js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBrowserDesktop } from '../platform/desktop.ts'
import { renderPart } from '../testing/render.tsx'
import { Button } from './Button.tsx'
import { Checkbox } from './Checkbox.tsx'
import { CommandPalette, type Command } from './CommandPalette.tsx'
import { ConfirmDialog } from './ConfirmDialog.tsx'
import { CopyButton } from './CopyButton.tsx'
import { Toasts } from './Toasts.tsx'
import { Dialog } from './Dialog.tsx'
import { FormDialog } from './FormDialog.tsx'
import { Menu } from './Menu.tsx'
import { Money } from './Money.tsx'
import { Select } from './Select.tsx'
import { StatusBadge } from './StatusBadge.tsx'
import { Switch } from './Switch.tsx'
import { Tabs } from './Tabs.tsx'
import { TextArea } from './TextArea.tsx'
import { TextField } from './TextField.tsx'
import { VirtualList } from './VirtualList.tsx'
import X from 'lucide-solid/icons/x'

describe('CommandPalette', () => {
  const command = (label: string, run = () => {}): Command => ({ id: label, group: 'Screens', label, icon: X, run })

  it('finds by typing, moves with the arrows, and runs with Enter', async () => {
    const ran: string[] = []
    const [open, setOpen] = createSignal(true)
    const commands = ['Home', 'Agents', 'Activity'].map((label) => command(label, () => ran.push(label)))
    const { user } = renderPart(() => <CommandPalette open={open()} onClose={() => setOpen(false)} commands={commands} />)
    const field = await screen.findByRole('combobox')
    await waitFor(() => expect(field).toHaveFocus())
    await user.keyboard('a')
    // "Home" has no a; the first match is chosen, and the field says which one that is.
    expect(screen.queryByRole('option', { name: 'Home' })).toBeNull()
    expect(screen.getByRole('option', { selected: true })).toHaveTextContent('Agents')
    await user.keyboard('{ArrowDown}')
    expect(field.getAttribute('aria-activedescendant')).toBe(screen.getByRole('option', { name: 'Activity' }).id)
    await user.keyboard('{ArrowDown}{ArrowUp}{Enter}')
    await waitFor(() => expect(ran).toEqual(['Activity']))
    expect(open()).toBe(false)
  })

  it('keeps the focus that the command has set', async () => {
    const [open, setOpen] = createSignal(false)
    const commands = [command('Write', () => screen.getByLabelText('Message').focus())]
    const { user } = renderPart(() => (
      <>
        <button type="button" onClick={() => setOpen(true)}>
          Open
        </button>
        <textarea aria-label="Message" />
        <CommandPalette open={open()} onClose={() => setOpen(false)} commands={commands} />
      </>
    ))
    await user.click(screen.getByRole('button', { name: 'Open' }))
    await waitFor(() => expect(screen.getByRole('combobox')).toHaveFocus())
    await user.keyboard('{Enter}')
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Message' })).toHaveFocus())
  })

  it('says when nothing matches, and closes with Escape', async () => {
    const onClose = vi.fn()
    const { user } = renderPart(() => <CommandPalette open onClose={onClose} commands={[command('Home')]} />)
    const field = await screen.findByRole('combobox')
    await waitFor(() => expect(field).toHaveFocus())
    await user.keyboard('zzz{Enter}')
    expect(screen.getByText('No results')).toBeVisible()
    await user.keyboard('{Escape}')
    expect(onClose).toHaveBeenCalled()
  })
})

describe('Dialog', () => {
  it('focuses its first field and returns the focus', async () => {
    const [isOpen, setOpen] = createSignal(false)
    const { user } = renderPart(() => (
      <>
        <Button onClick={() => setOpen(true)}>Open</Button>
        <Dialog open={isOpen()} onClose={() => setOpen(false)} title="Edit">
          <TextField label="Name" value="" onValue={() => {}} />
        </Dialog>
      </>
    ))
    await user.click(screen.getByRole('button', { name: 'Open' }))
    await waitFor(() => expect(screen.getByLabelText('Name')).toHaveFocus())
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.getByRole('button', { name: 'Open' })).toHaveFocus())
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})

describe('FormDialog', () => {
  function open() {
    const [isOpen, setOpen] = createSignal(true)
    const [isRunning, setRunning] = createSignal(false)
    const view = renderPart(() => (
      <Show when={isOpen()}>
        <FormDialog title="Edit" submit="Save" isRunning={isRunning()} onSubmit={() => setRunning(true)} onClose={() => setOpen(false)}>
          <TextField label="Name" value="" onValue={() => {}} />
        </FormDialog>
      </Show>
    ))
    return { ...view, setRunning }
  }

  it('closes with Escape while nothing was typed, and asks afterwards', async () => {
    const { user } = open()
    await waitFor(() => expect(screen.getByLabelText('Name')).toHaveFocus())
    await user.keyboard('a{Escape}')
    const question = await screen.findByRole('alertdialog', { name: 'Discard changes?' })
    await user.click(within(question).getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull())
    expect(await screen.findByRole('dialog')).toBeVisible()
    await user.keyboard('{Escape}')
    await user.click(await screen.findByRole('button', { name: 'Discard changes' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    open()
    await waitFor(() => expect(screen.getByLabelText('Name')).toHaveFocus())
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('stays open while it runs, and when the person clicks beside it', async () => {
    const { user, setRunning } = open()
    await waitFor(() => expect(screen.getByLabelText('Name')).toHaveFocus())
    // As a click beside it; the page below takes no clicks.
    fireEvent.pointerDown(document.body)
    fireEvent.pointerUp(document.body)
    fireEvent.click(document.body)
    expect(screen.getByRole('dialog')).toBeVisible()
    setRunning(true)
    await user.keyboard('{Escape}')
    expect(screen.getByRole('dialog')).toBeVisible()
    expect(screen.queryByRole('alertdialog')).toBeNull()
    setRunning(false)
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })
})

describe('a dialog that is there from the start', () => {
  it('keeps the focus when its first field is a choice', async () => {
    const { user } = renderPart(() => (
      <>
        <main id="main" tabIndex={-1} />
        <Dialog open onClose={() => {}} title="Add provider">
          <Select label="Provider" value="a" onValue={() => {}} options={[{ value: 'a', label: 'Anthropic' }]} />
          <TextField label="Name" value="" onValue={() => {}} />
        </Dialog>
      </>
    ))
    await waitFor(() => expect(screen.getByRole('button', { name: /Provider/ })).toHaveFocus())
    await user.tab()
    expect(screen.getByLabelText('Name')).toHaveFocus()
    await user.tab({ shift: true })
    expect(screen.getByRole('button', { name: /Provider/ })).toHaveFocus()
  })
})

describe('ConfirmDialog', () => {
  it('closes on success, and stays open with the error on failure', async () => {
    let works = false
    const [isOpen, setOpen] = createSignal(true)
    const { user } = renderPart(() => (
      <ConfirmDialog
        open={isOpen()}
        onClose={() => setOpen(false)}
        title="Delete the agent Release watcher?"
        confirm="Delete"
        tone="bad"
        onConfirm={() => (works ? Promise.resolve() : Promise.reject(new Error('It is the last agent.')))}
      />
    ))
    await user.click(await screen.findByRole('button', { name: 'Delete' }))
    expect(await screen.findByRole('alert')).toHaveTextContent('It is the last agent.')
    works = true
    await user.click(screen.getByRole('button', { name: 'Delete' }))
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull())
  })

  it('stays open while it runs, and does not show an old failure when it opens again', async () => {
    const [isOpen, setOpen] = createSignal(true)
    const running = Promise.withResolvers<void>()
    const { user } = renderPart(() => (
      <ConfirmDialog open={isOpen()} onClose={() => setOpen(false)} title="Delete?" confirm="Delete" onConfirm={() => running.promise} />
    ))
    await user.click(await screen.findByRole('button', { name: 'Delete' }))
    expect(screen.getByRole('button', { name: 'Cancel' })).toBeDisabled()
    await user.keyboard('{Escape}')
    expect(isOpen()).toBe(true)
    running.reject(new Error('It is the last agent.'))
    expect(await screen.findByRole('alert')).toHaveTextContent('It is the last agent.')
    setOpen(false)
    setOpen(true)
    expect(await screen.findByRole('alertdialog')).toBeInTheDocument()
    expect(screen.queryByRole('alert')).toBeNull()
  })
})

describe('VirtualList', () => {
  const items = Array.from({ length: 1000 }, (_, i) => ({ id: `i${i}`, name: `Row ${i}` }))

  it('renders only a part of a long list', () => {
    renderPart(() => <VirtualList items={items} label="Rows" keyOf={(item) => item.id} rowHeight={30} row={(item) => item.name} />)
    expect(screen.getByText('Row 0')).toBeInTheDocument()
    expect(screen.getAllByRole('option').length).toBeLessThan(60)
    expect(screen.getAllByRole('option')[0]).toHaveAttribute('aria-setsize', '1000')
  })

  it('is one tab stop; arrows move, Enter opens', async () => {
    const opened: string[] = []
    const { user } = renderPart(() => (
      <VirtualList
        items={items}
        label="Rows"
        keyOf={(item) => item.id}
        rowHeight={30}
        row={(item) => item.name}
        onOpen={(item) => opened.push(item.name)}
      />
    ))
    await user.tab()
    const list = screen.getByRole('listbox', { name: 'Rows' })
    expect(list).toHaveFocus()
    await user.keyboard('{Home}{ArrowDown}{ArrowDown}')
    expect(screen.getByRole('option', { selected: true })).toHaveTextContent('Row 2')
    expect(list.getAttribute('aria-activedescendant')).toBe(screen.getByRole('option', { selected: true }).id)
    await user.keyboard('{Enter}{ArrowUp}{Enter}')
    expect(opened).toEqual(['Row 2', 'Row 1'])
  })

  it('keeps the active item when another is inserted before it', async () => {
    const [list, setList] = createSignal(items.slice(0, 5))
    const { user } = renderPart(() => (
      <VirtualList items={list()} label="Rows" keyOf={(item) => item.id} rowHeight={30} row={(item) => item.name} />
    ))
    await user.tab()
    await user.keyboard('{Home}{ArrowDown}')
    setList([{ id: 'new', name: 'Newest' }, ...items.slice(0, 5)])
    expect(screen.getByRole('option', { selected: true })).toHaveTextContent('Row 1')
    await user.keyboard('{ArrowUp}{ArrowUp}')
    expect(screen.getByRole('option', { selected: true })).toHaveTextContent('Newest')
  })

  it('loads more near the end, once at a time', async () => {
    const onMore = vi.fn()
    const [isLoading, setLoading] = createSignal(false)
    renderPart(() => (
      <VirtualList
        items={items.slice(0, 20)}
        label="Rows"
        keyOf={(item) => item.id}
        rowHeight={30}
        row={(item) => item.name}
        hasMore
        isLoadingMore={isLoading()}
        onMore={() => {
          onMore()
          setLoading(true)
        }}
      />
    ))
    await waitFor(() => expect(onMore).toHaveBeenCalledOnce())
    expect(screen.getByRole('status')).toHaveTextContent('Loading more…')
  })
})

describe('choices', () => {
  it('Select opens and chooses by keyboard', async () => {
    const onValue = vi.fn()
    const { user } = renderPart(() => (
      <Select
        label="Level"
        value="a"
        onValue={onValue}
        options={[
          { value: 'a', label: 'Always ask' },
          { value: 'b', label: 'Autonomous' },
        ]}
      />
    ))
    await user.tab()
    await user.keyboard('{Enter}')
    await screen.findByRole('listbox')
    await user.keyboard('{ArrowDown}{Enter}')
    expect(onValue).toHaveBeenCalledWith('b')
  })

  it('Menu opens by keyboard and runs the chosen action', async () => {
    const onSelect = vi.fn()
    const { user } = renderPart(() => (
      <Menu label="Actions for Notes" items={[{ label: 'Edit', onSelect: () => {} }, 'separator', { label: 'Delete', onSelect }]} />
    ))
    await user.tab()
    await user.keyboard('{Enter}')
    await screen.findByRole('menu')
    await user.keyboard('{ArrowDown}{Enter}')
    expect(onSelect).toHaveBeenCalledOnce()
  })

  it('Menu lets an action copy over plain http, where there is no clipboard API', async () => {
    let copied: string | undefined
    document.execCommand = () => {
      const area = document.activeElement
      if (area instanceof HTMLTextAreaElement) copied = area.value.slice(area.selectionStart, area.selectionEnd)
      return true
    }
    onTestFinished(() => {
      Reflect.deleteProperty(navigator, 'clipboard')
      Reflect.deleteProperty(document, 'execCommand')
    })
    const copy = () => void createBrowserDesktop().copyText('the link')
    const { user } = renderPart(() => <Menu label="Actions for Notes" items={[{ label: 'Copy link', onSelect: copy }]} />)
    // After the setup of user events, which puts a clipboard there.
    Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })
    await user.tab()
    await user.keyboard('{Enter}')
    await screen.findByRole('menu')
    await user.keyboard('{Enter}')
    expect(copied).toBe('the link')
    await waitFor(() => expect(screen.getByRole('button', { name: 'Actions for Notes' })).toHaveFocus())
  })

  it('Switch has its name and toggles with Space', async () => {
    const onChecked = vi.fn()
    const { user } = renderPart(() => <Switch label="Start at login" hint="In the tray" checked={false} onChecked={onChecked} />)
    await user.tab()
    expect(screen.getByRole('switch', { name: 'Start at login' })).toHaveFocus()
    await user.keyboard(' ')
    expect(onChecked).toHaveBeenCalledWith(true)
  })

  it('Checkbox toggles with Space and has a description', async () => {
    const onChecked = vi.fn()
    const { user } = renderPart(() => (
      <Checkbox label="Remove the key" hint="It is deleted from the keychain." checked={false} onChecked={onChecked} />
    ))
    await user.tab()
    expect(screen.getByRole('checkbox', { name: 'Remove the key' })).toHaveFocus()
    await user.keyboard(' ')
    expect(onChecked).toHaveBeenCalledWith(true)
  })

  it('Tabs move with the arrows and show one content', async () => {
    const [value, setValue] = createSignal<'result' | 'steps'>('result')
    const { user } = renderPart(() => (
      <Tabs
        label="Parts of the job"
        value={value()}
        onValue={setValue}
        tabs={[
          { value: 'result', label: 'Result', content: () => <p>Three files.</p> },
          { value: 'steps', label: 'Steps', count: 4, content: () => <p>Read notes.md</p> },
        ]}
      />
    ))
    await user.tab()
    expect(screen.getByRole('tab', { name: 'Result' })).toHaveFocus()
    await user.keyboard('{ArrowRight}')
    expect(await screen.findByText('Read notes.md')).toBeVisible()
    expect(screen.queryByText('Three files.')).toBeNull()
    expect(screen.getByRole('tab', { name: /Steps/ })).toHaveAttribute('aria-selected', 'true')
  })

  it('a field shows its problem', () => {
    renderPart(() => <TextField label="Name" value="" onValue={() => {}} problem="A name is needed." />)
    const field = screen.getByLabelText('Name')
    expect(field).toBeInvalid()
    expect(field).toHaveAccessibleDescription('A name is needed.')
  })
})

describe('figures', () => {
  it.each([
    [0, true, '$0.00'],
    [0.0042, true, '$0.0042'],
    [0.00001, true, '< $0.0001'],
    [12.3, true, '$12.30'],
    [0, false, 'unpriced'],
    [0.5, false, '$0.50 + unpriced'],
  ])('money %s, priced %s: %s', (usd, priced, text) => {
    const { container } = renderPart(() => <Money usd={usd} priced={priced} />)
    expect(container.textContent.replace(/\s+/g, ' ').trim()).toBe(text)
  })

  it('a status has a name, also as an icon', () => {
    renderPart(() => <StatusBadge status="awaiting_approval" show="icon" />)
    expect(screen.getByText('Needs approval')).toBeInTheDocument()
  })
})

describe('CopyButton', () => {
  it('copies the current text and confirms it', async () => {
    const copied: string[] = []
    let text = 'before'
    const { user } = renderPart(() => (
      <CopyButton
        text={() => text}
        copy={(value) => {
          copied.push(value)
          return Promise.resolve()
        }}
      />
    ))
    text = 'after'
    await user.click(screen.getByRole('button', { name: 'Copy' }))
    expect(copied).toEqual(['after'])
    expect(await screen.findByRole('button', { name: 'Copied' })).toBeVisible()
  })

  it('says that it did not work', async () => {
    const { user } = renderPart(() => (
      <>
        <CopyButton text="a" copy={() => Promise.reject(new Error('not allowed'))} />
        <Toasts />
      </>
    ))
    await user.click(screen.getByRole('button', { name: 'Copy' }))
    expect(await screen.findByText('Could not copy. Select the text and copy it yourself.')).toBeVisible()
    expect(screen.queryByRole('button', { name: 'Copied' })).not.toBeInTheDocument()
  })
})

describe('TextArea', () => {
  it('fits the height of its text, also after a change of width', () => {
    const seen: ResizeObserverCallback[] = []
    vi.stubGlobal(
      'ResizeObserver',
      class {
        constructor(callback: ResizeObserverCallback) {
          seen.push(callback)
        }
        observe() {}
        disconnect() {}
      },
    )
    renderPart(() => <TextArea label="Send answer" value="Yes" onValue={() => undefined} maxRows={8} />)
    const area = screen.getByLabelText('Send answer')
    const showIn = (width: number, textHeight: number) => {
      Object.defineProperties(area, {
        clientWidth: { value: width, configurable: true },
        scrollHeight: { value: textHeight, configurable: true },
      })
      for (const callback of seen) callback([], {} as ResizeObserver)
    }
    showIn(300, 36)
    expect(area).toHaveStyle({ height: '38px' })
    showIn(150, 56)
    expect(area).toHaveStyle({ height: '58px' })
    vi.unstubAllGlobals()
  })
})
