import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Programs with a protocol of their own. All others speak the Agent Client Protocol. */
const SOURCES: Record<string, string> = { claude: 'scripted-claude.mjs', codex: 'scripted-codex.mjs' }

/**
 * Puts the scripted coding program into a folder under a name such as `gemini`; `claude` and `codex` speak their own streams. Returns
 * its path. `script`: what it does when its prompt has no line with @, and how it starts; see scripted-agent.mjs.
 */
export async function installScriptedAgent(folder: string, name: string, script = ''): Promise<string> {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await copyFile(fileURLToPath(new URL(SOURCES[name] ?? 'scripted-agent.mjs', import.meta.url)), path)
  await chmod(path, 0o755)
  // In the sandbox, files of a folder of programs are hidden unless they are programs.
  if (script !== '') {
    await writeFile(join(folder, 'script'), script)
    await chmod(join(folder, 'script'), 0o755)
  }
  return path
}
