import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const NAME = 'Deckhand sample'

const FILES: Record<string, string> = {
  'read me first.md':
    '# A sample folder\n\nMade by Deckhand so that a first agent has something to read. Nothing in here is yours. Delete it whenever you like.\n',
  'packing list.md': '# Packing list for Lisbon\n\n- passport (expires in May!)\n- adapter\n- rain jacket\n- present for Inês\n',
  'expenses.csv':
    'date,what,eur\n2026-03-02,train to Porto,31.40\n2026-03-03,hotel,118.00\n2026-03-03,dinner,42.50\n2026-03-05,museum,12.00\n',
  'notes from the garden.md':
    '# Garden\n\n2026-04-11: tomatoes sown, twelve pots.\n2026-04-20: the blue pot leaks.\n2026-05-02: first leaves. Water every second day, not daily.\n',
}

/** Creates the sample folder in the person's documents. Existing files stay as they are. */
export async function makeSampleFolder(home: string): Promise<string> {
  const documents = join(home, 'Documents')
  const hasDocuments = (await stat(documents).catch(() => null))?.isDirectory() === true
  const folder = join(hasDocuments ? documents : home, NAME)
  await mkdir(folder, { recursive: true })
  for (const [name, text] of Object.entries(FILES)) {
    await writeFile(join(folder, name), text, { flag: 'wx' }).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'EEXIST') throw thrown
    })
  }
  return folder
}
